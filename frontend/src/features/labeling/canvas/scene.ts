import type { Editor } from './editor';
import type { Ontology } from './model';
import type { View } from './view';

export type Picture = HTMLImageElement | HTMLCanvasElement | ImageBitmap;

export interface Look {
  /** Per cent; 100 is the picture as it is. */
  brightness: number;
  contrast: number;
  hideAll: boolean;
  showNames: boolean;
}

export const PLAIN_LOOK: Look = { brightness: 100, contrast: 100, hideAll: false, showNames: true };

export interface Scene {
  picture: Picture | null;
  editor: Editor;
  ontology: Ontology;
  view: View;
  look: Look;
  /** Objects that the active layer shows instead. */
  editing: readonly string[];
}
