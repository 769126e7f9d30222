/** How a picture is shown, in percent; its file does not change. */
export interface PictureLook {
  brightness: number;
  contrast: number;
}

export const PLAIN: PictureLook = { brightness: 100, contrast: 100 };
