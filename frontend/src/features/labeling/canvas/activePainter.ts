import { boundsOfFlat, pointAt, pointCount } from './geometry/points';
import type { DrawnObject, Point, Rect } from './model';
import { pixelOf, scratchContext } from './paintMask';
import { paintObject, type ShapeStyle } from './paintShapes';
import type { ActivePaint, MaskPaint } from './tools/tool';
import { matrixOf, type Size, toPicture, toScreen, type View } from './view';

const HANDLE_PX = 4;
const ACCENT = '#228be6';
const PROBLEM = '#fa5252';

/** The active layer: what is being drawn, handles, the crosshair. Painted with every move of the pointer. */
export class ActivePainter implements ActivePaint {
  private readonly canvas: HTMLCanvasElement;
  private readonly maskCanvas: HTMLCanvasElement;
  private to: CanvasRenderingContext2D | null = null;
  private view: View = { scale: 1, x: 0, y: 0 };
  private ratio = 1;
  private color = ACCENT;
  private styles: (object: DrawnObject) => ShapeStyle = () => {
    throw new Error('paint begins first');
  };
  private paintedMask: { version: number; view: View; mask: MaskPaint['get'] } | null = null;

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
    this.maskCanvas = canvas.ownerDocument.createElement('canvas');
  }

  resize(size: Size, ratio: number): void {
    this.ratio = ratio;
    for (const canvas of [this.canvas, this.maskCanvas]) {
      canvas.width = Math.max(1, Math.round(size.width * ratio));
      canvas.height = Math.max(1, Math.round(size.height * ratio));
    }
    this.paintedMask = null;
  }

  begin(view: View, color: string | null, styles: (object: DrawnObject) => ShapeStyle): void {
    this.to = this.canvas.getContext('2d');
    this.view = view;
    this.color = color ?? ACCENT;
    this.styles = styles;
    this.to?.setTransform(1, 0, 0, 1, 0, 0);
    this.to?.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.to?.setTransform(...matrixOf(view, this.ratio));
  }

  object(object: DrawnObject): void {
    if (this.to) paintObject(this.to, object, { ...this.styles(object), isSelected: true }, this.view, this.ratio);
  }

  line(
    points: readonly number[],
    options: { closed?: boolean; dashed?: boolean; fill?: boolean; color?: string } = {},
  ): void {
    const { to, view } = this;
    if (!to || pointCount(points) === 0) return;
    to.beginPath();
    for (let index = 0; index < pointCount(points); index++) to.lineTo(...pointAt(points, index));
    if (options.closed) to.closePath();
    to.lineWidth = 2 / view.scale;
    to.strokeStyle = options.color ?? this.color;
    to.fillStyle = `${(options.color ?? this.color).slice(0, 7)}26`;
    to.setLineDash(options.dashed ? [5 / view.scale, 4 / view.scale] : []);
    if (options.fill) to.fill();
    to.stroke();
    to.setLineDash([]);
  }

  handles(points: readonly Point[], color = this.color): void {
    const { to, view } = this;
    if (!to) return;
    const half = HANDLE_PX / view.scale;
    to.lineWidth = 1.5 / view.scale;
    to.fillStyle = '#ffffff';
    to.strokeStyle = color;
    to.beginPath();
    for (const [x, y] of points) to.rect(x - half, y - half, 2 * half, 2 * half);
    to.fill();
    to.stroke();
  }

  circle(centre: Point, radius: number): void {
    const { to, view } = this;
    if (!to) return;
    to.beginPath();
    to.arc(...centre, radius, 0, 2 * Math.PI);
    to.lineWidth = 1.5 / view.scale;
    to.strokeStyle = this.color;
    to.stroke();
  }

  text(at: Point, text: string): void {
    const { to, ratio } = this;
    if (!to) return;
    const [x, y] = toScreen(this.view, at);
    to.save();
    to.setTransform(ratio, 0, 0, ratio, 0, 0);
    to.font = '600 12px Inter, system-ui, sans-serif';
    to.lineWidth = 3;
    to.lineJoin = 'round';
    to.strokeStyle = '#000000b0';
    to.fillStyle = '#ffffff';
    to.strokeText(text, x + 10, y - 8);
    to.fillText(text, x + 10, y - 8);
    to.restore();
  }

  /** Where something was refused. */
  problem(at: Point): void {
    const { to, view } = this;
    if (!to) return;
    to.beginPath();
    to.arc(...at, 9 / view.scale, 0, 2 * Math.PI);
    to.lineWidth = 3 / view.scale;
    to.strokeStyle = PROBLEM;
    to.stroke();
  }

  crosshair(screen: Point): void {
    const { to, canvas, ratio } = this;
    if (!to) return;
    to.save();
    to.setTransform(1, 0, 0, 1, 0, 0);
    const [x, y] = [Math.round(screen[0] * ratio) + 0.5, Math.round(screen[1] * ratio) + 0.5];
    // White on black: seen on every picture.
    for (const [color, width] of [
      ['#00000080', 3],
      ['#ffffffc0', 1],
    ] as const) {
      to.beginPath();
      to.moveTo(x, 0);
      to.lineTo(x, canvas.height);
      to.moveTo(0, y);
      to.lineTo(canvas.width, y);
      to.lineWidth = width;
      to.strokeStyle = color;
      to.stroke();
    }
    to.restore();
  }

  /** Only what a stroke has changed is taken over from the bits. */
  mask(paint: MaskPaint): void {
    const { to, canvas, maskCanvas } = this;
    if (!to) return;
    const painted = this.paintedMask;
    const goesOn = painted?.view === this.view && painted.mask === paint.get;
    if (!goesOn) maskCanvas.getContext('2d')?.clearRect(0, 0, canvas.width, canvas.height);
    if (!goesOn || painted.version !== paint.version)
      this.takeBits(paint, this.screenRect(goesOn ? paint.dirty : paint.bounds));
    this.paintedMask = { version: paint.version, view: this.view, mask: paint.get };
    to.save();
    to.setTransform(1, 0, 0, 1, 0, 0);
    to.drawImage(maskCanvas, 0, 0);
    to.restore();
  }

  private screenRect([x, y, width, height]: Rect): Rect {
    const corners: Point[] = [
      [x, y],
      [x + width, y],
      [x, y + height],
      [x + width, y + height],
    ];
    const [left, top, across, down] = boundsOfFlat(corners.flatMap((corner) => [...toScreen(this.view, corner)]));
    const { ratio, canvas } = this;
    const from: Point = [Math.max(0, Math.floor(left * ratio) - 1), Math.max(0, Math.floor(top * ratio) - 1)];
    const right = Math.min(canvas.width, Math.ceil((left + across) * ratio) + 1);
    const bottom = Math.min(canvas.height, Math.ceil((top + down) * ratio) + 1);
    return [from[0], from[1], right - from[0], bottom - from[1]];
  }

  private takeBits(paint: MaskPaint, [left, top, width, height]: Rect): void {
    if (width <= 0 || height <= 0) return;
    const to = this.maskCanvas.getContext('2d', { willReadFrequently: true });
    const image = scratchContext(1, 1)?.createImageData(width, height);
    if (!to || !image) return;
    const pixels = new Uint32Array(image.data.buffer);
    const pixel = pixelOf(paint.color);
    const { ratio, view } = this;
    const at = (column: number, row: number) => toPicture(view, [column / ratio, row / ratio]);
    // The map is affine: one step right and one step down are the same everywhere.
    const [x0, y0] = at(left + 0.5, top + 0.5);
    const [x1, y1] = at(left + 1.5, top + 0.5);
    const [x2, y2] = at(left + 0.5, top + 1.5);
    for (let row = 0; row < height; row++) {
      let x = x0 + row * (x2 - x0);
      let y = y0 + row * (y2 - y0);
      for (let column = 0, index = row * width; column < width; column++, index++) {
        if (x >= 0 && y >= 0 && x < paint.width && y < paint.height && paint.get(Math.floor(x), Math.floor(y)))
          pixels[index] = pixel;
        x += x1 - x0;
        y += y1 - y0;
      }
    }
    to.putImageData(image, left, top);
  }
}
