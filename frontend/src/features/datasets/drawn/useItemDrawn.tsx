import { useMemo, useState } from 'react';
import type { Entry } from '@/api/contract/datasets';
import { DrawnOverlay } from '@/shared/domain/drawn/DrawnOverlay';
import { documentOf } from './entryDocument';
import { useDrawnKey } from './useDrawn';

const NONE: ReadonlySet<string> = new Set();

/** The objects of the picture that a page shows: which are drawn, and which stands out. */
export function useItemDrawn({ annotations }: Pick<Entry, 'annotations'>) {
  const document = useMemo(() => (annotations ? documentOf(annotations) : null), [annotations]);
  const { isShown } = useDrawnKey(Boolean(document?.objects.length));
  const [hidden, setHidden] = useState(NONE);
  const [active, setActive] = useState<string | null>(null);
  const showLabel = (label: string, isVisible: boolean) => {
    const next = new Set(hidden);
    if (isVisible) next.delete(label);
    else next.add(label);
    setHidden(next);
  };
  const overlay = useMemo(
    () =>
      document && isShown ? (
        <DrawnOverlay document={document} hidden={hidden} active={active} onActive={setActive} />
      ) : null,
    [document, isShown, hidden, active],
  );
  const activeObject = document?.objects.find(({ id }) => id === active) ?? null;
  return { document, overlay, hidden, showLabel, active, setActive, activeObject };
}

export type ItemDrawn = ReturnType<typeof useItemDrawn>;
