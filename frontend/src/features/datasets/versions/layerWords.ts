import type { TFunction } from 'i18next';

/** The name of a layer that Atom itself makes in the present language; any other is a person's own, and stays. */
export const layerWords = (name: string, t: TFunction): string =>
  t(`datasets.layerNames.${name}` as 'datasets.layerNames.folder', { defaultValue: name });
