import { useEffect } from 'react';
import { useStored, writeStored } from '../ui/stored';

/** How closely tables, lists, grids and forms are set; kept per browser. The same key is read in `index.html`. */
export const DENSITIES = ['comfortable', 'compact'] as const;
export type Density = (typeof DENSITIES)[number];
const STORED = 'atom-density';

const known = (value: string): Density => (value === 'compact' ? 'compact' : 'comfortable');

export function useDensity(): { density: Density; choose: (density: Density) => void; toggle: () => void } {
  const [stored] = useStored(STORED, 'comfortable');
  const density = known(stored);
  const choose = (next: Density) => writeStored(STORED, next);
  return { density, choose, toggle: () => choose(density === 'compact' ? 'comfortable' : 'compact') };
}

/** Says it to the style sheets; the shell calls it once. The first paint has it from `index.html`. */
export function useDensityOfPage(): void {
  const { density } = useDensity();
  useEffect(() => {
    document.documentElement.dataset.density = density;
  }, [density]);
}
