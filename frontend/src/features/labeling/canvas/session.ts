import { defaultsOf, keptAttributes } from './attributes';
import { type ValueWindow, windowOfRange } from './deepTile';
import { type Action, type Editor, openEditor, reduce } from './editor';
import { type Hit, HitIndex } from './hit';
import { type Command, commandOf } from './keys';
import type { AnnotationObject, DocumentV2, DrawnObject, Ontology, Point, Rect, Shape, ShapeKind } from './model';
import { emptyDocument, isDrawn, newObjectId, objectsOf } from './model';
import type { Patch } from './patches';
import { patchBetween } from './patches';
import { paste, runOnSelection } from './selectionCommands';
import { makeTool } from './tools';
import {
  type Brush,
  type KeyPress,
  labelOf,
  mayHave,
  type Notice,
  type Pointer,
  type Tool,
  type ToolHost,
  type ToolName,
} from './tools/tool';
import type { ShownValues } from './valueWindow';
import { fit as fitted, type Size, toPicture, type View, zoomAt } from './view';

const REACH_PX = { mouse: 8, pen: 8, touch: 18 };
const MAX_BRUSH = 1000;

export interface SessionEvents {
  /** The document is another one; `patch` leads there from the one before. */
  change?(document: DocumentV2, patch: Patch): void;
  select?(ids: readonly string[]): void;
  notice?(notice: Notice): void;
  /** For the live region: what a command has done. */
  done?(action: Action, editor: Editor): void;
  tool?(name: ToolName): void;
  brush?(brush: Brush): void;
  view?(view: View): void;
  /** The window tool asks for other values; null for the whole range. */
  values?(window: ValueWindow | null): void;
  /** The static layer shows something else. */
  repaint?(): void;
  /** Only the active layer does. */
  repaintActive?(): void;
}

/** Editor, view and tool of one open picture; knows neither React nor a canvas. */
export class Session implements ToolHost {
  editor: Editor = openEditor(emptyDocument(1, 1));
  view: View = { scale: 1, x: 0, y: 0 };
  size: Size = { width: 1, height: 1 };
  ontology: Ontology = { labels: [] };
  activeLabel: number | null = null;
  relation: number | null = null;
  readOnly = false;
  values: ShownValues | null = null;
  brush: Brush = { radius: 10, erases: false };
  pointer: Pointer | null = null;
  tool: Tool = makeTool('select', this);
  private readonly events: SessionEvents;
  private lastDrawing: ToolName = 'box';
  private index: HitIndex | null = null;
  private indexed: Editor | null = null;

  constructor(events: SessionEvents = {}) {
    this.events = events;
  }

  open(document: DocumentV2, editor?: Editor): void {
    this.tool.cancel();
    this.editor = editor ?? { ...openEditor(document), clipboard: this.editor.clipboard };
    this.fit();
    this.events.select?.(this.editor.selected);
    this.events.repaint?.();
  }

  get reach(): number {
    return REACH_PX[this.pointer?.kind ?? 'mouse'] / this.view.scale;
  }

  get hits(): HitIndex {
    const isSame = this.indexed?.document === this.editor.document && this.indexed.hidden === this.editor.hidden;
    if (this.index && isSame) return this.index;
    const hidden = new Set(this.editor.hidden);
    this.index = new HitIndex(
      objectsOf(this.editor.document)
        .filter(isDrawn)
        .filter(({ id }) => !hidden.has(id)),
    );
    this.indexed = this.editor;
    return this.index;
  }

  pick = (at: Point): Hit | null => this.hits.pick(at, this.reach);
  pickAll = (at: Point): Hit[] => this.hits.pickAll(at, this.reach);
  objectsWithin = (rect: Rect): DrawnObject[] => this.hits.within(rect);
  newId = (): string => newObjectId();

  changed(): void {
    this.events.repaintActive?.();
  }

  notify(notice: Notice): void {
    this.events.notice?.(notice);
    this.events.repaintActive?.();
  }

  mayDraw(kind: ShapeKind): boolean {
    const label = labelOf(this.ontology, this.activeLabel);
    if (this.readOnly) this.notify({ code: 'readOnly' });
    else if (!label) this.notify({ code: 'noLabel' });
    else if (!mayHave(label, kind)) this.notify({ code: 'kindNotAllowed' });
    else return true;
    return false;
  }

  create(shape: Shape): void {
    const label = labelOf(this.ontology, this.activeLabel);
    if (!label || !this.mayDraw(shape.kind)) return;
    const object = {
      id: this.newId(),
      label: label.id,
      ...shape,
      attributes: defaultsOf(this.ontology, label.id),
      ...(label.ignore ? { ignore: true } : {}),
    } as AnnotationObject;
    this.dispatch({ type: 'draw', object });
  }

  dispatch(action: Action): void {
    const before = this.editor;
    const next = reduce(before, withKept(action, this.ontology));
    if (next === before) return;
    if (next.document !== before.document && this.readOnly && action.type !== 'open' && action.type !== 'restore') {
      this.notify({ code: 'readOnly' });
      return;
    }
    this.editor = next;
    if (next.document !== before.document) this.events.change?.(next.document, patchOf(before, next));
    if (next.selected !== before.selected) this.events.select?.(next.selected);
    this.events.done?.(action, next);
    this.events.repaint?.();
  }

  chooseTool(name: ToolName): void {
    if (name === this.tool.name) return;
    this.tool.cancel();
    if (name !== 'select' && name !== 'window') this.lastDrawing = name;
    this.tool = makeTool(name, this);
    this.events.tool?.(name);
    this.events.repaint?.();
  }

  showValues(window: ValueWindow | null): void {
    if (!this.values) return;
    this.values = { ...this.values, window: window ?? windowOfRange(this.values.low, this.values.high) };
    this.events.values?.(window);
  }

  setBrush(brush: Partial<Brush>): void {
    const radius = Math.min(MAX_BRUSH, Math.max(0.5, brush.radius ?? this.brush.radius));
    this.brush = { ...this.brush, ...brush, radius };
    this.events.brush?.(this.brush);
    this.events.repaintActive?.();
  }

  setView(view: View): void {
    this.view = view;
    this.events.view?.(view);
  }

  fit(): void {
    this.setView(this.whole());
  }

  /** A quarter turn of the view, clockwise; the document does not change. */
  turn(): void {
    this.setView({ ...this.view, rotation: ((this.view.rotation ?? 0) + 90) % 360 });
    this.fit();
    this.events.repaint?.();
  }

  /** Whether the picture lies as `fit` puts it. */
  get showsWhole(): boolean {
    const { scale, x, y } = this.whole();
    return this.view.scale === scale && this.view.x === x && this.view.y === y;
  }

  private whole(): View {
    return fitted(this.editor.document, this.size, 16, this.view.rotation ?? 0);
  }

  zoom(factor: number, at: Point = [this.size.width / 2, this.size.height / 2]): void {
    this.setView(zoomAt(this.view, at, factor));
  }

  pointerAt(screen: Point, rest: Omit<Pointer, 'screen' | 'at'>): Pointer {
    return { ...rest, screen, at: toPicture(this.view, screen) };
  }

  pointerDown(pointer: Pointer): void {
    this.pointer = pointer;
    this.tool.pointerDown(pointer);
  }

  pointerMove(pointer: Pointer): void {
    this.pointer = pointer;
    this.tool.pointerMove(pointer);
    this.events.repaintActive?.();
  }

  pointerUp(pointer: Pointer): void {
    this.pointer = pointer;
    this.tool.pointerUp(pointer);
  }

  pointerLeave(): void {
    this.pointer = null;
    this.events.repaintActive?.();
  }

  /** Whether the key meant something here; else it belongs to the page. */
  key(press: KeyPress): boolean {
    if (!press.ctrlKey && !press.metaKey && this.tool.key(press)) return true;
    const command = commandOf(press);
    return command ? this.run(command) : false;
  }

  run(command: Command): boolean {
    const ids = this.editor.selected;
    switch (command.do) {
      case 'cancel':
        return this.cancel();
      case 'undo':
      case 'redo':
        if (!this.tool.cancel()) this.dispatch({ type: command.do });
        return true;
      case 'fit':
        this.fit();
        return true;
      case 'turn':
        this.turn();
        return true;
      case 'zoom':
        this.zoom(command.factor);
        return true;
      case 'next':
        this.dispatch({ type: 'selectNext', step: command.step });
        // Behind the last object the key goes on to the page: nobody is trapped in the canvas.
        return this.editor.selected.length > 0;
      case 'repeat':
        this.chooseTool(this.lastDrawing);
        return true;
      case 'eraser':
        this.chooseTool('brush');
        this.setBrush({ erases: !this.brush.erases });
        return true;
      case 'brush':
        this.setBrush({ radius: Math.max(this.brush.radius + command.step, this.brush.radius * command.factor) });
        return true;
      case 'selectAll':
        this.dispatch({ type: 'selectAll' });
        return true;
      case 'paste':
        return paste(this);
      case 'showAll':
        this.dispatch({ type: 'hide', ids: this.editor.hidden, hidden: false });
        return true;
      default:
        return ids.length > 0 && runOnSelection(this, command, ids);
    }
  }

  private cancel(): boolean {
    if (this.tool.cancel()) return true;
    if (this.editor.selected.length > 0) {
      this.dispatch({ type: 'select', ids: [] });
      return true;
    }
    if (this.tool.name === 'select') return false;
    this.chooseTool('select');
    return true;
  }
}

function withKept(action: Action, ontology: Ontology): Action {
  if (action.type !== 'setLabel' || action.keep) return action;
  return { ...action, keep: keptAttributes(ontology, action.label) };
}

function patchOf(before: Editor, after: Editor): Patch {
  const isUndo = after.future.length > before.future.length;
  const change = isUndo ? before.past.at(-1) : after.past.at(-1);
  if (change && after.past.length !== before.past.length) return isUndo ? change.inverse : change.forward;
  return patchBetween(before.document, after.document);
}
