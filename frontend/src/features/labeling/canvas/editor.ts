import * as edits from './edits';
import { cutPolygon, mergePolygons } from './geometry/polygons';
import { shapeOf, withShape } from './geometry/shapes';
import { changed, type Editor, existing, redo, undo } from './history';
import type { AnnotationObject, AttributeValue, DocumentV2, Point, Rect, Shape } from './model';
import { canonicalDocument, isDrawn, objectsOf, relationsOf } from './model';

export type { Change, Editor } from './history';

type Ids = readonly string[];

export type Action =
  | { type: 'open'; document: DocumentV2 }
  | { type: 'restore'; editor: Editor }
  | { type: 'draw'; object: AnnotationObject }
  | { type: 'move'; ids: Ids; dx: number; dy: number }
  | { type: 'resize'; ids: Ids; from: Rect; to: Rect }
  | { type: 'rotate'; ids: Ids; centre: Point; degrees: number }
  | { type: 'reshape'; id: string; shape: Shape }
  | ({ type: 'insertVertex'; id: string; at: Point } & edits.VertexPlace)
  | ({ type: 'removeVertex'; id: string } & edits.VertexPlace)
  /** Cut a polygon along a line; the largest piece keeps the id. */
  | { type: 'split'; id: string; line: readonly number[]; newIds: Ids }
  /** Join polygons into the first one. */
  | { type: 'merge'; ids: Ids }
  | { type: 'setLabel'; ids: Ids; label: number; keep?: readonly number[] }
  | { type: 'setAttribute'; ids: Ids; attribute: number; value: AttributeValue | null }
  | { type: 'setPictureAttribute'; attribute: number; value: AttributeValue | null }
  | { type: 'setPictureLabels'; labels: readonly number[] }
  | { type: 'setIgnore'; ids: Ids; ignore: boolean }
  | { type: 'setText'; ids: Ids; text: string }
  | { type: 'setTrack'; ids: Ids; track: string | null }
  | { type: 'order'; ids: Ids; to: edits.Order }
  | { type: 'hide'; ids: Ids; hidden: boolean }
  | { type: 'lock'; ids: Ids; locked: boolean }
  | { type: 'delete'; ids: Ids }
  /** The new ids are for the objects, then for the relations between them. */
  | { type: 'duplicate'; ids: Ids; newIds: Ids; dx: number; dy: number }
  | { type: 'copy'; ids: Ids }
  | { type: 'paste'; newIds: Ids; dx: number; dy: number; clip?: edits.Clipboard }
  | { type: 'relate'; id: string; relation: number; from: string; to: string }
  | { type: 'unrelate'; ids: Ids }
  | { type: 'select'; ids: Ids; how?: 'only' | 'add' | 'toggle' }
  | { type: 'selectAll' }
  /** The next object in the order of the document; nothing is selected behind the last one. */
  | { type: 'selectNext'; step: 1 | -1 }
  | { type: 'undo' }
  | { type: 'redo' };

export const openEditor = (document: DocumentV2): Editor => ({
  document: canonicalDocument(document),
  selected: [],
  hidden: [],
  locked: [],
  clipboard: edits.EMPTY_CLIPBOARD,
  past: [],
  future: [],
});

export const selectedObjects = ({ document, selected }: Editor): AnnotationObject[] => {
  const chosen = new Set(selected);
  return objectsOf(document).filter(({ id }) => chosen.has(id));
};

/** Ids that may be changed. */
const free = ({ locked }: Editor, ids: Ids): Ids =>
  locked.length === 0 ? ids : ids.filter((id) => !locked.includes(id));

function toggled(ids: Ids, change: Ids, isIn: boolean): Ids {
  const rest = ids.filter((id) => !change.includes(id));
  return isIn ? [...rest, ...change] : rest;
}

function select(editor: Editor, ids: Ids, how: 'only' | 'add' | 'toggle'): Editor {
  const there = existing(editor.document, ids);
  if (how === 'only') return { ...editor, selected: there };
  const both = editor.selected.filter((id) => there.includes(id));
  const added = there.filter((id) => !editor.selected.includes(id));
  const kept = how === 'toggle' ? editor.selected.filter((id) => !both.includes(id)) : editor.selected;
  return { ...editor, selected: [...kept, ...added] };
}

function selectNext(editor: Editor, step: 1 | -1): Editor {
  const hidden = new Set(editor.hidden);
  const ids = objectsOf(editor.document)
    .map(({ id }) => id)
    .filter((id) => !hidden.has(id));
  const current = editor.selected.at(-1);
  const at = current === undefined ? (step > 0 ? -1 : ids.length) : ids.indexOf(current);
  const next = ids[at + step];
  return { ...editor, selected: next === undefined ? [] : [next] };
}

function split(editor: Editor, id: string, line: readonly number[], newIds: Ids): Editor {
  const object = edits.objectOf(editor.document, id);
  if (object?.kind !== 'polygon') return editor;
  const pieces = cutPolygon(object.parts, line);
  if (pieces.length < 2 || newIds.length < pieces.length - 1) return editor;
  const parts = pieces.map((piece, index) => ({
    ...withShape(object, { kind: 'polygon', parts: piece }),
    id: index === 0 ? id : (newIds[index - 1] as string),
  }));
  const objects = objectsOf(editor.document).flatMap((other) => (other.id === id ? parts : [other]));
  return changed(
    editor,
    edits.withObjects(editor.document, objects),
    parts.map((part) => part.id),
  );
}

function merge(editor: Editor, ids: Ids): Editor {
  const polygons = ids.flatMap((id) => {
    const object = edits.objectOf(editor.document, id);
    return object?.kind === 'polygon' ? [object] : [];
  });
  const [first, ...others] = polygons;
  if (!first || others.length === 0) return editor;
  const parts = mergePolygons(polygons.map((polygon) => polygon.parts));
  const reshaped = edits.reshapeObject(editor.document, first.id, { kind: 'polygon', parts });
  const gone = new Map(others.map(({ id }) => [id, first.id]));
  // Relations of what was joined now belong to the whole; one between the joined has lost its meaning.
  const relations = relationsOf(reshaped)
    .map((relation) => ({
      ...relation,
      from: gone.get(relation.from) ?? relation.from,
      to: gone.get(relation.to) ?? relation.to,
    }))
    .filter(({ from, to }) => from !== to);
  const objects = objectsOf(reshaped).filter(({ id }) => !gone.has(id));
  return changed(editor, canonicalDocument({ ...reshaped, objects, relations }), [first.id]);
}

function reshaped(editor: Editor, id: string, to: (shape: Shape) => Shape | null): Editor {
  if (free(editor, [id]).length === 0) return editor;
  const object = edits.objectOf(editor.document, id);
  const shape = object && isDrawn(object) ? to(shapeOf(object)) : null;
  return shape ? changed(editor, edits.reshapeObject(editor.document, id, shape)) : editor;
}

function relate(editor: Editor, action: Extract<Action, { type: 'relate' }>): Editor {
  const { id, relation, from, to } = action;
  const relations = relationsOf(editor.document);
  const isThere = relations.some((other) => other.relation === relation && other.from === from && other.to === to);
  if (isThere || from === to || existing(editor.document, [from, to]).length < 2) return editor;
  return changed(editor, { ...editor.document, relations: [...relations, { id, relation, from, to }] });
}

function addCopies(editor: Editor, clip: edits.Clipboard, by: { newIds: Ids; dx: number; dy: number }): Editor {
  const copies = edits.copiesOf(clip, by.newIds, by.dx, by.dy);
  return changed(
    editor,
    edits.addClip(editor.document, copies),
    copies.objects.map(({ id }) => id),
  );
}

/** The whole engine's state machine: pure, so that it is tested without a page. */
export function reduce(editor: Editor, action: Action): Editor {
  const { document } = editor;
  switch (action.type) {
    case 'open':
      return { ...openEditor(action.document), clipboard: editor.clipboard };
    case 'restore':
      return action.editor;
    case 'draw':
      return changed(editor, edits.addObjects(document, [action.object]), [action.object.id]);
    case 'move':
      return changed(editor, edits.moveObjects(document, free(editor, action.ids), action.dx, action.dy));
    case 'resize':
      return changed(editor, edits.resizeObjects(document, free(editor, action.ids), action.from, action.to));
    case 'rotate':
      return changed(editor, edits.turnObjects(document, free(editor, action.ids), action.centre, action.degrees));
    case 'reshape':
      return reshaped(editor, action.id, () => action.shape);
    case 'insertVertex':
      return reshaped(editor, action.id, (shape) => edits.insertVertex(shape, action, action.at));
    case 'removeVertex':
      return reshaped(editor, action.id, (shape) => edits.removeVertex(shape, action));
    case 'split':
      return free(editor, [action.id]).length > 0 ? split(editor, action.id, action.line, action.newIds) : editor;
    case 'merge':
      return merge(editor, free(editor, action.ids));
    default:
      return reduceMore(editor, action);
  }
}

function reduceMore(editor: Editor, action: Action): Editor {
  const { document } = editor;
  switch (action.type) {
    case 'setLabel':
      return changed(editor, edits.setLabel(document, free(editor, action.ids), action.label, action.keep));
    case 'setAttribute':
      return changed(editor, edits.setAttribute(document, free(editor, action.ids), action.attribute, action.value));
    case 'setPictureAttribute':
      return changed(editor, edits.setPictureAttribute(document, action.attribute, action.value));
    case 'setPictureLabels':
      return changed(editor, canonicalDocument({ ...document, labels: action.labels }));
    case 'setIgnore': {
      const { ignore } = action;
      return changed(
        editor,
        edits.mapObjects(document, free(editor, action.ids), (o) => ({ ...o, ignore })),
      );
    }
    case 'setText': {
      const { text } = action;
      return changed(
        editor,
        edits.mapObjects(document, free(editor, action.ids), (o) => ({ ...o, text })),
      );
    }
    case 'setTrack': {
      const track = action.track ?? undefined;
      return changed(
        editor,
        edits.mapObjects(document, free(editor, action.ids), (o) => ({ ...o, track })),
      );
    }
    case 'order':
      return changed(editor, edits.orderObjects(document, action.ids, action.to));
    case 'delete':
      return changed(editor, edits.deleteObjects(document, free(editor, action.ids)));
    case 'relate':
      return relate(editor, action);
    case 'unrelate':
      return changed(
        editor,
        canonicalDocument({
          ...document,
          relations: relationsOf(document).filter(({ id }) => !action.ids.includes(id)),
        }),
      );
    default:
      return reduceView(editor, action);
  }
}

function reduceView(editor: Editor, action: Action): Editor {
  const { document } = editor;
  switch (action.type) {
    case 'duplicate':
      return addCopies(editor, edits.clipOf(document, action.ids), action);
    case 'copy':
      return { ...editor, clipboard: edits.clipOf(document, action.ids) };
    case 'paste':
      return addCopies(editor, action.clip ?? editor.clipboard, action);
    case 'hide':
      return { ...editor, hidden: toggled(editor.hidden, action.ids, action.hidden) };
    case 'lock':
      return { ...editor, locked: toggled(editor.locked, action.ids, action.locked) };
    case 'select':
      return select(editor, action.ids, action.how ?? 'only');
    case 'selectAll':
      return select(
        editor,
        objectsOf(document)
          .map(({ id }) => id)
          .filter((id) => !editor.hidden.includes(id)),
        'only',
      );
    case 'selectNext':
      return selectNext(editor, action.step);
    case 'undo':
      return undo(editor);
    case 'redo':
      return redo(editor);
    default:
      return editor;
  }
}
