"""Static routes."""
