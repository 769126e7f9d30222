import { useTranslation } from 'react-i18next';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { useStored } from '@/shared/ui/stored';

const KEY = 'atom.drawn';

/** Whether objects are drawn on pictures: kept in the browser, for every page alike. */
export function useDrawn() {
  const [stored, store] = useStored(KEY, 'shown');
  const isShown = stored !== 'hidden';
  const setShown = (next: boolean) => store(next ? 'shown' : 'hidden');
  return { isShown, setShown, toggle: () => setShown(!isShown) };
}

/** The same, and O toggles it, where the page has objects. */
export function useDrawnKey(hasObjects: boolean) {
  const { t } = useTranslation();
  const drawn = useDrawn();
  useShortcuts(hasObjects ? [{ keys: 'O', label: t('drawn.show'), run: drawn.toggle }] : []);
  return drawn;
}
