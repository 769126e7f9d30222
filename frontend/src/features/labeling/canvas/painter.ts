import { dirtyRect, MAX_TAGS, touches } from './dirty';
import type { Editor } from './editor';
import { intersected } from './geometry/points';
import { boundsOf } from './geometry/shapes';
import type { DrawnObject, Ontology, Rect } from './model';
import { isDrawn, objectsOf } from './model';
import { paintObject, paintTag, type ShapeStyle } from './paintShapes';
import type { Scene } from './scene';
import { blitOf, matrixOf, pictureRect, type Size, type View } from './view';

/** At this many device pixels a pixel of the picture shows its edges. */
const GRID_SCALE = 12;
/** Smaller pixels are averaged, larger ones are shown as they are. */
const SMOOTH_BELOW = 2;
/** Enlarged more than this, a painting is too blurred to go on with. */
const BLURRED = 2.5;
const MIN_TAG_PX = 18;

function context(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
  return canvas.getContext('2d');
}

/** The static layer: picture and idle shapes. While the view moves it is blitted, and painted anew when that stops. */
export class StaticPainter {
  private readonly canvas: HTMLCanvasElement;
  private readonly copy: HTMLCanvasElement;
  private painted: View | null = null;
  /** Whether `copy` holds the last painting: made when the view first moves, since most paintings are never blitted. */
  private isCopied = false;
  private scene: Scene | null = null;
  private ratio = 1;

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
    this.copy = canvas.ownerDocument.createElement('canvas');
  }

  resize(size: Size, ratio: number): void {
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(size.width * ratio));
    this.canvas.height = Math.max(1, Math.round(size.height * ratio));
    this.painted = null;
    this.scene = null;
  }

  /** Whether there is something to blit. */
  get isPainted(): boolean {
    return this.painted !== null;
  }

  paint(scene: Scene): void {
    const to = context(this.canvas);
    const dirty = dirtyRect(this.scene, scene);
    this.scene = scene;
    if (!to || dirty === null) return;
    const device = dirty === 'all' ? this.whole : this.deviceRect(dirty, scene.view);
    to.save();
    to.setTransform(1, 0, 0, 1, 0, 0);
    to.beginPath();
    to.rect(...device);
    to.clip();
    to.clearRect(...device);
    to.setTransform(...matrixOf(scene.view, this.ratio));
    const visible = this.visible(scene.view);
    const window = dirty === 'all' ? visible : this.pictureRect(device, scene.view);
    paintPicture(to, scene);
    scene.tiles?.paint(to, scene.view.scale * this.ratio, window, visible);
    to.filter = 'none';
    if (!scene.look.hideAll) this.paintObjects(to, scene, window);
    paintGrid(to, scene, window);
    to.restore();
    this.painted = scene.view;
    this.isCopied = false;
  }

  private get whole(): Rect {
    return [0, 0, this.canvas.width, this.canvas.height];
  }

  /** Whole device pixels around a rectangle of the picture: its border may not run through one. */
  private deviceRect([x, y, width, height]: Rect, view: View): Rect {
    const scale = view.scale * this.ratio;
    const left = Math.max(0, Math.floor(view.x * this.ratio + x * scale));
    const top = Math.max(0, Math.floor(view.y * this.ratio + y * scale));
    const right = Math.min(this.canvas.width, Math.ceil(view.x * this.ratio + (x + width) * scale));
    const bottom = Math.min(this.canvas.height, Math.ceil(view.y * this.ratio + (y + height) * scale));
    return [left, top, Math.max(0, right - left), Math.max(0, bottom - top)];
  }

  private pictureRect([x, y, width, height]: Rect, view: View): Rect {
    return pictureRect(view, [x / this.ratio, y / this.ratio, width / this.ratio, height / this.ratio]);
  }

  /** The share of the screen that the last painting fills; a picture that has shrunk or grown much counts as less. */
  coverage(view: View): number {
    if (!this.painted) return 0;
    const [width, height] = [this.canvas.width, this.canvas.height];
    const [a, , , d, x, y] = blitOf({ ...this.painted, rotation: 0 }, { ...view, rotation: 0 }, this.ratio);
    const shared = intersected([0, 0, width, height], [x, y, width * a, height * d]);
    return shared ? (shared[2] * shared[3]) / (width * height) / Math.max(1, a / BLURRED) : 0;
  }

  /** The last painting as it looks from another view. */
  blit(view: View): void {
    const to = context(this.canvas);
    if (!to || !this.painted) return;
    this.keepCopy();
    // The canvas no longer shows a scene that pieces could be painted into.
    this.scene = null;
    to.setTransform(1, 0, 0, 1, 0, 0);
    to.clearRect(0, 0, this.canvas.width, this.canvas.height);
    to.setTransform(...blitOf(this.painted, view, this.ratio));
    to.imageSmoothingEnabled = false;
    to.drawImage(this.copy, 0, 0);
  }

  /** Copies the last painting before the canvas shows something else. */
  private keepCopy(): void {
    if (this.isCopied) return;
    this.isCopied = true;
    // The same size empties it.
    this.copy.width = this.canvas.width;
    this.copy.height = this.canvas.height;
    context(this.copy)?.drawImage(this.canvas, 0, 0);
  }

  private visible(view: View): Rect {
    return pictureRect(view, [0, 0, this.canvas.width / this.ratio, this.canvas.height / this.ratio]);
  }

  private paintObjects(to: CanvasRenderingContext2D, scene: Scene, window: Rect): void {
    const { editor, ontology, view } = scene;
    const left = new Set([...editor.hidden, ...scene.editing]);
    const all = objectsOf(editor.document)
      .filter(isDrawn)
      .filter(({ id }) => !left.has(id));
    const shown = all.filter((object) => touches(object, scene, window));
    const styles = stylesOf(ontology, editor);
    for (const object of shown) paintObject(to, object, styles(object), view, this.ratio);
    const tagged = scene.look.showNames ? shown.filter((object) => isTagged(object, view)) : [];
    if (objectsOf(editor.document).length <= MAX_TAGS)
      for (const object of tagged) paintTag(to, object, styles(object), this.ratio);
  }
}

function isTagged(object: DrawnObject, view: View): boolean {
  const [, , width] = boundsOf(object);
  return width * view.scale >= MIN_TAG_PX || object.kind === 'point';
}

/** Colour and name of each object; styles are made once for a label. */
export function stylesOf(ontology: Ontology, editor: Editor): (object: DrawnObject) => ShapeStyle {
  const labels = new Map(ontology.labels.map((label) => [label.id, label]));
  const selected = new Set(editor.selected);
  const locked = new Set(editor.locked);
  return (object) => {
    const label = labels.get(object.label);
    return {
      color: label?.color ?? '#868e96',
      name: label?.name ?? '',
      skeleton: label?.skeleton ?? null,
      isSelected: selected.has(object.id),
      isLocked: locked.has(object.id),
    };
  };
}

/** The picture, or what stands in for it; the filter stays for the tiles above it. */
function paintPicture(to: CanvasRenderingContext2D, { picture, tiles, view, look, editor }: Scene): void {
  const { width, height } = editor.document;
  if (!picture) {
    to.fillStyle = '#868e9633';
    to.fillRect(0, 0, width, height);
    if (!tiles) return;
  }
  to.imageSmoothingEnabled = view.scale < SMOOTH_BELOW;
  if (look.brightness !== 100 || look.contrast !== 100)
    to.filter = `brightness(${look.brightness}%) contrast(${look.contrast}%)`;
  if (picture) to.drawImage(picture, 0, 0, width, height);
}

function paintGrid(to: CanvasRenderingContext2D, { view, editor }: Scene, visible: Rect): void {
  if (view.scale < GRID_SCALE) return;
  const { width, height } = editor.document;
  const [left, top] = [Math.max(0, Math.floor(visible[0])), Math.max(0, Math.floor(visible[1]))];
  const right = Math.min(width, Math.ceil(visible[0] + visible[2]));
  const bottom = Math.min(height, Math.ceil(visible[1] + visible[3]));
  to.beginPath();
  for (let x = left; x <= right; x++) {
    to.moveTo(x, top);
    to.lineTo(x, bottom);
  }
  for (let y = top; y <= bottom; y++) {
    to.moveTo(left, y);
    to.lineTo(right, y);
  }
  to.lineWidth = 0.5 / view.scale;
  to.strokeStyle = '#86868680';
  to.stroke();
}
