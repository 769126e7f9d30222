import type { ValueWindow } from './deepTile';
import type { Editor } from './editor';
import type { Ontology } from './model';
import type { TileLayer } from './tiles';
import type { View } from './view';

export type Picture = HTMLImageElement | HTMLCanvasElement | ImageBitmap;

export interface Look {
  /** Per cent; 100 is the picture as it is. */
  brightness: number;
  contrast: number;
  hideAll: boolean;
  showNames: boolean;
  /** The values of deep pictures that are shown; null shows the whole range. */
  window?: ValueWindow | null;
}

export const PLAIN_LOOK: Look = { brightness: 100, contrast: 100, hideAll: false, showNames: true };

export interface Scene {
  picture: Picture | null;
  /** Shown instead of the picture, as far as its tiles are here. */
  tiles?: TileLayer | null;
  tilesVersion?: number;
  editor: Editor;
  ontology: Ontology;
  view: View;
  look: Look;
  /** Objects that the active layer shows instead. */
  editing: readonly string[];
}
