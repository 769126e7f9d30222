/** Ten curve colours that stay apart for colour-blind eyes and read on both themes; after them dashes tell. */
export const CURVE_COLORS = [
  '#5b6bf0',
  '#e8710a',
  '#0ca678',
  '#d6336c',
  '#1098ad',
  '#9c6ade',
  '#b08900',
  '#5c940d',
  '#c2255c',
  '#748091',
] as const;

export const curveColor = (index: number): string => CURVE_COLORS[index % CURVE_COLORS.length] as string;

/** Solid first, then dashes: colour is never the only signal. */
export function curveDash(index: number): number[] | undefined {
  return [undefined, [6, 3], [2, 3], [8, 3, 2, 3]][Math.floor(index / CURVE_COLORS.length) % 4];
}
