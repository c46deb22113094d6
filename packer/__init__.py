"""The image build."""
