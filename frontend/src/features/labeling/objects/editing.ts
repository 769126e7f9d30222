import type { Action, Editor } from '../canvas/editor';
import { objectsOf } from '../canvas/model';
import type { AnnotationObject, DocumentV2 } from './types';

type Ids = readonly string[];

/** A picture under work, as the panels beside the canvas see and change it. */
export interface Editing {
  document: DocumentV2;
  selected: Ids;
  hidden: Ids;
  locked: Ids;
  canUndo: boolean;
  canRedo: boolean;
  readOnly: boolean;
  do: (action: Action) => void;
}

export const editingOf = (editor: Editor, readOnly: boolean, act: (action: Action) => void): Editing => ({
  document: editor.document,
  selected: editor.selected,
  hidden: editor.hidden,
  locked: editor.locked,
  canUndo: !readOnly && editor.past.length > 0,
  canRedo: !readOnly && editor.future.length > 0,
  readOnly,
  do: act,
});

/** The objects that are selected, in drawing order. */
export const selectedObjects = ({ document, selected }: Editing): AnnotationObject[] =>
  objectsOf(document).filter(({ id }) => selected.includes(id));

/** The parts of an editor that undo needs after a reload. */
export type History = Pick<Editor, 'past' | 'future' | 'hidden' | 'locked'>;

export const historyOf = ({ past, future, hidden, locked }: Editor): History => ({ past, future, hidden, locked });

const isList = (value: unknown) => value === undefined || Array.isArray(value);

/** A stored history; null where it is none, such as one of an older portal. */
export function asHistory(value: unknown): Partial<History> | null {
  if (typeof value !== 'object' || value === null) return null;
  const { past, future, hidden, locked } = value as Partial<History>;
  return [past, future, hidden, locked].every(isList) ? { past, future, hidden, locked } : null;
}
