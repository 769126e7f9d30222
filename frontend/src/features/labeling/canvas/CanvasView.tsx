import { VisuallyHidden } from '@mantine/core';
import type { TFunction } from 'i18next';
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './CanvasView.module.css';
import { CanvasController, type Mark } from './controller';
import type { ValueWindow } from './deepTile';
import type { Action, Editor } from './editor';
import { type DocumentV2, type Ontology, objectsOf, type Point } from './model';
import type { Patch } from './patches';
import type { Look } from './scene';
import type { TileSource } from './tiles';
import { type Brush, labelOf, type NoticeCode, type ToolName } from './tools/tool';

export interface CanvasViewProps {
  /** Opens a document. Later changes go through the handle; documents from `onChange` may come back. */
  document: DocumentV2;
  /** History, selection and all of an earlier visit, in place of `document`. */
  editor?: Editor;
  ontology: Ontology;
  image: HTMLImageElement | ImageBitmap | null;
  /** Instead of a whole picture; `image` stands in until they are here. */
  tiles?: TileSource | null;
  activeLabel: number | null;
  activeTool: ToolName;
  /** The kind of relation that the relation tool draws. */
  activeRelation?: number | null;
  readOnly?: boolean;
  look?: Partial<Look>;
  issues?: readonly Mark[];
  /** With it a press, or Enter, names a place of the picture instead of drawing. */
  onPlace?: ((at: Point) => void) | undefined;
  onChange?: (document: DocumentV2, patch: Patch) => void;
  onSelect?: (ids: readonly string[]) => void;
  /** A key has chosen another tool. */
  onTool?: (tool: ToolName) => void;
  onBrush?: (brush: Brush) => void;
  /** The window tool asks for other values of a deep picture; null for the whole range. */
  onWindow?: ((window: ValueWindow | null) => void) | undefined;
  /** Something was refused; the live region says it too. */
  onNotice?: (code: NoticeCode, sentence: string) => void;
  handle?: Ref<CanvasController>;
}

/** The canvas of one picture: a thin wrapper, so that no node stands for a shape. */
export function CanvasView(props: CanvasViewProps) {
  const { t } = useTranslation();
  const host = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const active = useRef<HTMLCanvasElement>(null);
  const [controller, setController] = useState<CanvasController | null>(null);
  const [spoken, setSpoken] = useState('');
  const latest = useRef(props);
  latest.current = props;
  const translate = useRef(t);
  translate.current = t;
  // Before the browser paints, so that whoever sees the canvas can press a key.
  useLayoutEffect(() => {
    if (!host.current || !base.current || !active.current) return;
    const made = new CanvasController(host.current, base.current, active.current, {
      change: (document, patch) => latest.current.onChange?.(document, patch),
      select: (ids) => latest.current.onSelect?.(ids),
      tool: (tool) => latest.current.onTool?.(tool),
      brush: (brush) => latest.current.onBrush?.(brush),
      values: (window) => latest.current.onWindow?.(window),
      notice: ({ code }) => {
        const sentence = translate.current(`labeling.canvas.notice.${code}`);
        setSpoken(sentence);
        latest.current.onNotice?.(code, sentence);
      },
      done: (action, state) => setSpoken(sentenceOf(action, state, latest.current.ontology, translate.current)),
    });
    setController(made);
    return () => made.dispose();
  }, []);
  useImperativeHandle(props.handle, () => controller as CanvasController, [controller]);
  const { document, editor, ontology, image, activeLabel, activeTool, activeRelation, readOnly, look, issues } = props;
  const tiles = props.tiles ?? null;
  useEffect(() => controller?.setOntology(ontology), [controller, ontology]);
  useEffect(() => controller?.setPicture(image), [controller, image]);
  useEffect(() => controller?.setTiles(tiles), [controller, tiles]);
  // At once: a press may not change the document of the picture before.
  useLayoutEffect(() => controller?.open(document, editor), [controller, document, editor]);
  useEffect(() => {
    if (!controller) return;
    controller.session.activeLabel = activeLabel;
    controller.session.relation = activeRelation ?? null;
    controller.session.readOnly = readOnly ?? false;
  }, [controller, activeLabel, activeRelation, readOnly]);
  useEffect(() => controller?.chooseTool(activeTool), [controller, activeTool]);
  useEffect(() => controller?.setLook(look ?? {}), [controller, look]);
  useEffect(() => controller?.setMarks(issues ?? []), [controller, issues]);
  const isPlacing = props.onPlace !== undefined;
  useEffect(
    () => controller?.setPlacing(isPlacing ? (at) => latest.current.onPlace?.(at) : null),
    [controller, isPlacing],
  );
  return (
    <>
      <div
        ref={host}
        className={classes.host}
        role="application"
        aria-label={t('labeling.canvas.name')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the canvas takes the keyboard, as an application does.
        tabIndex={0}
      >
        <canvas ref={base} className={classes.layer} aria-hidden />
        <canvas ref={active} className={classes.layer} aria-hidden />
      </div>
      <VisuallyHidden aria-live="polite">{spoken}</VisuallyHidden>
    </>
  );
}

function sentenceOf(action: Action, editor: Editor, ontology: Ontology, t: TFunction): string {
  switch (action.type) {
    case 'draw':
      return t('labeling.canvas.drawn', { label: labelOf(ontology, action.object.label)?.name ?? '' });
    case 'delete':
      return t('labeling.canvas.deleted', { count: action.ids.length });
    case 'select':
    case 'selectNext':
    case 'selectAll':
      return selectionOf(editor, ontology, t);
    case 'undo':
      return t('labeling.canvas.undone');
    case 'redo':
      return t('labeling.canvas.redone');
    default:
      return '';
  }
}

/** One object by its class and place in the list; of several their number. */
function selectionOf({ document, selected }: Editor, ontology: Ontology, t: TFunction): string {
  const objects = objectsOf(document);
  const place = objects.findIndex(({ id }) => id === selected[0]);
  const object = objects[place];
  if (selected.length !== 1 || !object) return t('labeling.canvas.selected', { count: selected.length });
  const label = labelOf(ontology, object.label)?.name ?? '';
  return t('labeling.canvas.current', { label, place: place + 1, total: objects.length });
}
