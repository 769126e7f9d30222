import type { Label } from '@/api/contract/labeling';

/** Ten colours that stay apart on both themes. */
const PALETTE = [
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
];

export const paletteColor = (index: number): string => PALETTE[index % PALETTE.length] as string;

/** `1`…`9` then `0`: the row above the letters, in its own order. */
export const defaultHotkey = (index: number): string => (index < 9 ? String(index + 1) : index === 9 ? '0' : '');

/** When the classes are the ten digits, each has its own key. */
export function hotkeysFor(names: readonly string[]): string[] {
  const digits = names.length > 0 && names.every((name) => /^\d$/.test(name)) && new Set(names).size === names.length;
  return names.map((name, index) => (digits ? name : defaultHotkey(index)));
}

export const labelById = (labels: readonly Label[]): Map<number, Label> =>
  new Map(labels.map((label) => [label.id, label]));

/** Black or white, whichever reads better on `color` (WCAG relative luminance). */
export function inkOn(color: string): string {
  const channel = (at: number) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return luminance > 0.179 ? '#000000' : '#ffffff';
}
