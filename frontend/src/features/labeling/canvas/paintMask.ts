import { intersected } from './geometry/points';
import type { Rect } from './model';
import { endsOf, maskBounds, type Rle, runAt } from './rle';
import { pictureRect, toScreen, turnOf, type View } from './view';

const ALPHA = 0x73;

/** A colour as `ImageData` keeps it: red in the lowest byte. */
export function pixelOf(color: string, alpha = ALPHA): number {
  const value = Number.parseInt(color.slice(1, 7), 16);
  const [red, green, blue] = [(value >> 16) & 255, (value >> 8) & 255, value & 255];
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

let scratch: HTMLCanvasElement | null = null;

/** One canvas serves all masks: it only carries pixels from memory to where they are shown. */
export function scratchContext(width: number, height: number): CanvasRenderingContext2D | null {
  scratch ??= document.createElement('canvas');
  if (scratch.width < width) scratch.width = width;
  if (scratch.height < height) scratch.height = height;
  return scratch.getContext('2d', { willReadFrequently: true });
}

export interface Raster {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Device pixels that a rectangle of the picture covers, as far as they are on the canvas; for views that are not turned. */
export function rasterOf(rect: Rect, view: View, ratio: number, width: number, height: number): Raster | null {
  const [x, y] = toScreen({ ...view, rotation: 0 }, [rect[0], rect[1]]);
  const scale = view.scale * ratio;
  const left = Math.max(0, Math.floor(x * ratio));
  const top = Math.max(0, Math.floor(y * ratio));
  const right = Math.min(width, Math.ceil(x * ratio + rect[2] * scale));
  const bottom = Math.min(height, Math.ceil(y * ratio + rect[3] * scale));
  return right > left && bottom > top ? { left, top, width: right - left, height: bottom - top } : null;
}

/** Fill the pixels of a raster that a mask covers; thin rows stay visible however small the picture is shown. */
export function fillRuns(
  pixels: Uint32Array,
  raster: Raster,
  rle: Rle,
  view: View,
  ratio: number,
  pixel: number,
): void {
  const sums = endsOf(rle);
  const [height, width] = rle.size;
  const scale = view.scale * ratio;
  const originX = view.x * ratio;
  const originY = view.y * ratio;
  for (let column = 0; column < raster.width; column++) {
    const x = Math.floor((raster.left + column + 0.5 - originX) / scale);
    if (x < 0 || x >= width) continue;
    const first = x * height;
    const last = first + height;
    for (let run = runAt(sums, first); run < sums.length; run++) {
      const from = Math.max(first, run === 0 ? 0 : (sums[run - 1] as number));
      if (from >= last) break;
      if (run % 2 === 0) continue;
      const to = Math.min(last, sums[run] as number);
      const top = Math.max(0, Math.floor((from - first) * scale + originY) - raster.top);
      const bottom = Math.min(raster.height, Math.ceil((to - first) * scale + originY) - raster.top);
      for (let row = top; row < bottom; row++) pixels[row * raster.width + column] = pixel;
    }
  }
}

export function paintMask(to: CanvasRenderingContext2D, rle: Rle, color: string, view: View, ratio: number): void {
  const { width, height } = to.canvas;
  const isTurned = turnOf(view.rotation ?? 0)[0] !== 1;
  if (isTurned) {
    paintTurned(to, rle, color, view, ratio);
    return;
  }
  const raster = rasterOf(maskBounds(rle), view, ratio, width, height);
  const from = raster && scratchContext(raster.width, raster.height);
  if (!raster || !from) return;
  const image = from.createImageData(raster.width, raster.height);
  fillRuns(new Uint32Array(image.data.buffer), raster, rle, view, ratio, pixelOf(color));
  from.putImageData(image, 0, 0);
  to.save();
  to.setTransform(1, 0, 0, 1, 0, 0);
  to.drawImage(from.canvas, 0, 0, raster.width, raster.height, raster.left, raster.top, raster.width, raster.height);
  to.restore();
}

/** A turned view shows a picture of the mask, made as if the view were not turned. */
function paintTurned(to: CanvasRenderingContext2D, rle: Rle, color: string, view: View, ratio: number): void {
  const window = pictureRect(view, [0, 0, to.canvas.width / ratio, to.canvas.height / ratio]);
  const shown = intersected(maskBounds(rle), window);
  if (!shown) return;
  const scale = view.scale * ratio;
  const width = Math.ceil(shown[2] * scale);
  const height = Math.ceil(shown[3] * scale);
  const from = scratchContext(width, height);
  if (!from || width < 1 || height < 1) return;
  const image = from.createImageData(width, height);
  const flat: View = { scale: view.scale, x: -shown[0] * view.scale, y: -shown[1] * view.scale };
  const raster = { left: 0, top: 0, width, height };
  fillRuns(new Uint32Array(image.data.buffer), raster, rle, flat, ratio, pixelOf(color));
  from.putImageData(image, 0, 0);
  to.drawImage(from.canvas, 0, 0, width, height, shown[0], shown[1], width / scale, height / scale);
}
