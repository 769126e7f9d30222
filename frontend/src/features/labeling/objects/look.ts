import type { ValueWindow } from '../canvas/deepTile';

/** How a picture is shown, in percent; its file does not change. */
export interface PictureLook {
  brightness: number;
  contrast: number;
  /** The values of deep pictures that are shown; null shows the whole range. */
  window?: ValueWindow | null;
}

export const PLAIN: PictureLook = { brightness: 100, contrast: 100 };
