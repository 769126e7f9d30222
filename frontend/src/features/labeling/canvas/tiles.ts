import { type DeepTile, decodeDeepTile, pixelsOf, tableOf, type ValueWindow, windowOfRange } from './deepTile';
import { intersected } from './geometry/points';
import type { Point, Rect } from './model';

/** A pyramid of tiles as the server tells of it: level 0 is one tile, the last one has every pixel. */
export interface TileSource {
  url: string;
  width: number;
  height: number;
  tile: number;
  levels: number;
  bits: number;
  low: number;
  high: number;
  zero: number;
}

export interface TilePlace {
  level: number;
  x: number;
  y: number;
}

/** A tile as it is painted: `shown` of deep ones follows the window. */
interface LoadedTile {
  picture: CanvasImageSource & { width: number; height: number };
  deep: DeepTile | null;
  shown: ValueWindow | null;
}

export type TileContent = ImageBitmap | DeepTile;
export type TileLoader = (address: string, isDeep: boolean, signal: AbortSignal) => Promise<TileContent>;

const AT_ONCE = 8;
/** A tile of 512 takes 1 MiB, a deep one 1.5. */
const KEPT = 192;
const RETRY_MS = 5000;

async function loadTile(address: string, isDeep: boolean, signal: AbortSignal): Promise<TileContent> {
  const answer = await fetch(address, { signal });
  if (!answer.ok) throw new Error(`no tile: ${answer.status}`);
  return isDeep ? decodeDeepTile(await answer.arrayBuffer()) : createImageBitmap(await answer.blob());
}

/** How many pixels of the picture one pixel of a level is wide. */
export const factorOf = (source: TileSource, level: number): number => 2 ** (source.levels - 1 - level);

/** The coarsest level that has a pixel for each pixel of the screen; `scale` in device pixels. */
export function levelOf(source: TileSource, scale: number): number {
  const halvings = Math.floor(Math.log2(1 / Math.max(scale, 1e-9)) + 1e-9);
  return Math.max(0, Math.min(source.levels - 1, source.levels - 1 - Math.max(0, halvings)));
}

/** The tiles of a level that touch a rectangle of the picture, those in its middle first. */
export function tilesIn(source: TileSource, level: number, rect: Rect): TilePlace[] {
  const side = source.tile * factorOf(source, level);
  const shown = intersected(rect, [0, 0, source.width, source.height]);
  if (!shown) return [];
  const [left, top] = [Math.floor(shown[0] / side), Math.floor(shown[1] / side)];
  const right = Math.ceil((shown[0] + shown[2]) / side);
  const bottom = Math.ceil((shown[1] + shown[3]) / side);
  const places: TilePlace[] = [];
  for (let y = top; y < bottom; y++) for (let x = left; x < right; x++) places.push({ level, x, y });
  const middle: Point = [(shown[0] + shown[2] / 2) / side - 0.5, (shown[1] + shown[3] / 2) / side - 0.5];
  const far = ({ x, y }: TilePlace) => Math.hypot(x - middle[0], y - middle[1]);
  return places.sort((a, b) => far(a) - far(b));
}

const keyOf = ({ level, x, y }: TilePlace) => `${level}/${x}_${y}`;

/** The tiles of one picture: fetched as they come into sight, kept up to a bound, painted below the shapes. */
export class TileLayer {
  readonly source: TileSource;
  /** Grows with each change of what would be painted. */
  version = 0;
  private window: ValueWindow;
  private table: Uint8ClampedArray | null = null;
  private readonly onChange: () => void;
  private readonly load: TileLoader;
  private readonly tiles = new Map<string, LoadedTile>();
  private readonly pending = new Map<string, AbortController>();
  private readonly failedAt = new Map<string, number>();
  private wanted: TilePlace[] = [];

  constructor(source: TileSource, onChange: () => void, load: TileLoader = loadTile) {
    this.source = source;
    this.onChange = onChange;
    this.load = load;
    this.window = windowOfRange(source.low, source.high);
    this.want([{ level: 0, x: 0, y: 0 }]);
  }

  get isDeep(): boolean {
    return this.source.bits > 8;
  }

  get keptTiles(): number {
    return this.tiles.size;
  }

  setWindow(window: ValueWindow | null): void {
    const next = window ?? windowOfRange(this.source.low, this.source.high);
    if (next.centre === this.window.centre && next.width === this.window.width) return;
    this.window = next;
    this.table = null;
    this.changed();
  }

  /** Paint what is here of a rectangle, coarse tiles below fine ones, and fetch what is missing of the part in sight. */
  paint(to: CanvasRenderingContext2D, scale: number, rect: Rect, visible: Rect = rect): void {
    const level = levelOf(this.source, scale);
    const places = tilesIn(this.source, level, rect);
    const missing = places.filter((place) => !this.tiles.has(keyOf(place)));
    to.save();
    to.beginPath();
    to.rect(0, 0, this.source.width, this.source.height);
    to.clip();
    // The coarsest tile lies below all, so that no background shows between two tiles.
    const coarser = missing.length > 0 ? level : Math.min(1, level);
    for (let coarse = 0; coarse < coarser; coarse++)
      for (const place of tilesIn(this.source, coarse, rect)) this.paintTile(to, place);
    for (const place of places) this.paintTile(to, place);
    to.restore();
    const inSight = tilesIn(this.source, level, visible).filter((place) => !this.tiles.has(keyOf(place)));
    this.want([{ level: 0, x: 0, y: 0 }, ...inSight]);
  }

  dispose(): void {
    for (const controller of this.pending.values()) controller.abort();
    this.pending.clear();
    this.wanted = [];
    for (const tile of this.tiles.values()) this.close(tile);
    this.tiles.clear();
  }

  private paintTile(to: CanvasRenderingContext2D, place: TilePlace): void {
    const tile = this.tiles.get(keyOf(place));
    if (!tile) return;
    // The newest last: the oldest ones go.
    this.tiles.delete(keyOf(place));
    this.tiles.set(keyOf(place), tile);
    this.develop(tile);
    const factor = factorOf(this.source, place.level);
    const side = this.source.tile * factor;
    const { picture } = tile;
    to.drawImage(picture, place.x * side, place.y * side, picture.width * factor, picture.height * factor);
  }

  /** Deep values become what the window shows of them. */
  private develop(tile: LoadedTile): void {
    if (!tile.deep || tile.shown === this.window) return;
    this.table ??= tableOf(this.window, this.source.zero);
    const canvas = tile.picture as HTMLCanvasElement;
    const to = canvas.getContext('2d');
    if (!to) return;
    const image = to.createImageData(tile.deep.width, tile.deep.height);
    pixelsOf(tile.deep, this.table, image.data);
    to.putImageData(image, 0, 0);
    tile.shown = this.window;
  }

  private want(places: TilePlace[]): void {
    this.wanted = places;
    const keys = new Set(places.map(keyOf));
    for (const [key, controller] of this.pending) {
      if (keys.has(key)) continue;
      controller.abort();
      this.pending.delete(key);
    }
    this.fetchNext();
  }

  private fetchNext(): void {
    for (const place of this.wanted) {
      if (this.pending.size >= AT_ONCE) return;
      const key = keyOf(place);
      const isResting = Date.now() - (this.failedAt.get(key) ?? Number.NEGATIVE_INFINITY) < RETRY_MS;
      if (!this.tiles.has(key) && !this.pending.has(key) && !isResting) void this.fetch(place);
    }
  }

  private async fetch(place: TilePlace): Promise<void> {
    const key = keyOf(place);
    const controller = new AbortController();
    this.pending.set(key, controller);
    const address = this.source.url
      .replace('{level}', String(place.level))
      .replace('{x}', String(place.x))
      .replace('{y}', String(place.y));
    try {
      const content = await this.load(address, this.isDeep, controller.signal);
      if (controller.signal.aborted) return;
      this.keep(key, content);
    } catch {
      if (!controller.signal.aborted) this.failedAt.set(key, Date.now());
    } finally {
      if (this.pending.get(key) === controller) this.pending.delete(key);
    }
    if (!controller.signal.aborted) this.fetchNext();
  }

  private keep(key: string, content: TileContent): void {
    if ('values' in content) {
      const picture = document.createElement('canvas');
      picture.width = content.width;
      picture.height = content.height;
      this.tiles.set(key, { picture, deep: content, shown: null });
    } else this.tiles.set(key, { picture: content, deep: null, shown: null });
    for (const [oldest, tile] of this.tiles) {
      if (this.tiles.size <= KEPT) break;
      if (oldest === '0/0_0') continue;
      this.close(tile);
      this.tiles.delete(oldest);
    }
    this.changed();
  }

  private close({ picture }: LoadedTile): void {
    if ('close' in picture && typeof picture.close === 'function') picture.close();
  }

  private changed(): void {
    this.version += 1;
    this.onChange();
  }
}
