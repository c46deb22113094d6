// A sparkline on a canvas: in as an area, out as a line, the last two minutes.
const KEEP = 120;

export class Spark {
  constructor(canvas) {
    this.canvas = canvas;
    this.points = [];
  }

  add(incoming, outgoing) {
    this.points.push([incoming ?? 0, outgoing ?? 0]);
    if (this.points.length > KEEP) this.points.shift();
    this.draw();
  }

  // points: [[in, out], ...], one a second, oldest first.
  seed(points) {
    this.points = points.slice(-KEEP);
    this.draw();
  }

  draw() {
    const { canvas, points } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (!width || points.length < 2) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const brush = canvas.getContext("2d");
    brush.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const top = Math.max(1, ...points.flat());
    const x = (index) => width - (points.length - 1 - index) * (width / (KEEP - 1));
    const y = (value) => height - 1.5 - (value / top) * (height - 4);
    const trace = (series) => points.forEach((point, index) => brush[index ? "lineTo" : "moveTo"](x(index), y(point[series])));
    brush.lineWidth = 1.3;
    brush.beginPath();
    trace(0);
    brush.strokeStyle = style.getPropertyValue("--mr-series-in");
    brush.stroke();
    brush.lineTo(x(points.length - 1), height);
    brush.lineTo(x(0), height);
    brush.fillStyle = style.getPropertyValue("--mr-series-in-soft");
    brush.fill();
    brush.beginPath();
    trace(1);
    brush.strokeStyle = style.getPropertyValue("--mr-series-out");
    brush.stroke();
  }
}
