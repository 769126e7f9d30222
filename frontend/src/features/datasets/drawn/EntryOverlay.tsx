import { useMemo } from 'react';
import type { Entry } from '@/api/contract/datasets';
import { DrawnOverlay } from '@/shared/domain/drawn/DrawnOverlay';
import { documentOf } from './entryDocument';
import { useDrawn } from './useDrawn';

interface EntryOverlayProps {
  annotations: Entry['annotations'] | undefined;
  /** The objects that differ, by id. */
  marked?: ReadonlySet<string>;
  withNames?: boolean;
}

/** The objects of a file over its picture, unless this person hides them. */
export function EntryOverlay({ annotations, ...rest }: EntryOverlayProps) {
  const { isShown } = useDrawn();
  const document = useMemo(() => (annotations?.objects.length ? documentOf(annotations) : null), [annotations]);
  return document && isShown ? <DrawnOverlay document={document} {...rest} /> : null;
}
