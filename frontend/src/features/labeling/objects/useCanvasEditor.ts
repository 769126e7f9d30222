import { type RefObject, useCallback, useEffect, useMemo, useState } from 'react';
import type { CanvasController } from '../canvas/controller';
import { type Action, type Editor, openEditor } from '../canvas/editor';
import type { Clipboard } from '../canvas/edits';
import type { DocumentV2 } from '../canvas/model';
import { asHistory, type Editing, editingOf } from './editing';

interface CanvasEditorOptions {
  /** Another one opens another document on the same canvas. */
  id: string;
  document: DocumentV2;
  history: unknown;
  clipboard: RefObject<Clipboard>;
  readOnly: boolean;
  onChange: (editor: Editor) => void;
}

/** The editor of the canvas, followed by the panels beside it. */
export function useCanvasEditor({ id, document, history, clipboard, readOnly, onChange }: CanvasEditorOptions) {
  const opening = (): Editor => ({
    ...openEditor(document),
    ...Object.fromEntries(Object.entries(asHistory(history) ?? {}).filter(([, value]) => value !== undefined)),
    clipboard: clipboard.current,
  });
  // The canvas opens it once; later changes go through its handle.
  const [opened, setOpened] = useState(opening);
  const [openedId, setOpenedId] = useState(id);
  const [controller, setController] = useState<CanvasController | null>(null);
  const [editor, setEditor] = useState<Editor>(opened);
  if (openedId !== id) {
    const next = opening();
    setOpenedId(id);
    setOpened(next);
    setEditor(next);
  }
  /** Reads what a key or a tool has changed. */
  const follow = useCallback(() => {
    if (!controller) return;
    setEditor(controller.session.editor);
    clipboard.current = controller.session.editor.clipboard;
  }, [controller, clipboard]);
  useEffect(follow, [follow]);
  const onDocument = useCallback(() => {
    if (!controller) return;
    follow();
    onChange(controller.session.editor);
  }, [controller, follow, onChange]);
  const act = useCallback(
    (action: Action) => {
      controller?.dispatch(action);
      follow();
    },
    [controller, follow],
  );
  const editing = useMemo<Editing>(() => editingOf(editor, readOnly, act), [editor, readOnly, act]);
  return { opened, controller, setController, editing, follow, onDocument };
}
