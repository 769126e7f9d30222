import type { Clipboard } from './edits';
import { type DocumentV2, objectsOf } from './model';
import { applyPatch, type Patch, patchBetween } from './patches';

/** The state of the editor, its history of changes, and the steps back and forth. */

/** One step of the history, both ways. */
export interface Change {
  readonly forward: Patch;
  readonly inverse: Patch;
  /** The selection before and after it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Plain JSON: what `JSON.stringify` keeps is enough to go on after a reload. */
export interface Editor {
  readonly document: DocumentV2;
  readonly selected: readonly string[];
  readonly hidden: readonly string[];
  readonly locked: readonly string[];
  readonly clipboard: Clipboard;
  readonly past: readonly Change[];
  readonly future: readonly Change[];
}

type Ids = readonly string[];

export const existing = (document: DocumentV2, ids: Ids): Ids => {
  const there = new Set(objectsOf(document).map(({ id }) => id));
  return ids.filter((id) => there.has(id));
};

/** Every change of the document goes through here, so that every change can be undone. */
export function changed(editor: Editor, document: DocumentV2, selected: Ids = editor.selected): Editor {
  if (document === editor.document) return editor;
  const forward = patchBetween(editor.document, document);
  if (forward.length === 0) return editor;
  const after = existing(document, selected);
  const inverse = patchBetween(document, editor.document);
  return {
    ...editor,
    document,
    selected: after,
    past: [...editor.past, { forward, inverse, before: editor.selected, after }],
    future: [],
  };
}

export function undo(editor: Editor): Editor {
  const change = editor.past.at(-1);
  if (!change) return editor;
  return {
    ...editor,
    document: applyPatch(editor.document, change.inverse),
    selected: change.before,
    past: editor.past.slice(0, -1),
    future: [...editor.future, change],
  };
}

export function redo(editor: Editor): Editor {
  const change = editor.future.at(-1);
  if (!change) return editor;
  return {
    ...editor,
    document: applyPatch(editor.document, change.forward),
    selected: change.after,
    past: [...editor.past, change],
    future: editor.future.slice(0, -1),
  };
}
