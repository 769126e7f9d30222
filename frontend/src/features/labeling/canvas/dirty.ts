import { grownBy, rectsTouch, unionOf } from './geometry/points';
import { boundsOf } from './geometry/shapes';
import type { DrawnObject, Rect } from './model';
import { isDrawn, objectsOf } from './model';
import type { Scene } from './scene';

/** Lines, points and names reach this far over the bounds of a shape, in CSS pixels. */
const OVERHANG_PX = 20;
const LETTER_PX = 10;
/** With more objects than this their names cover each other. */
export const MAX_TAGS = 400;

interface Shown {
  object: DrawnObject;
  isSelected: boolean;
  isLocked: boolean;
}

function shownOf({ editor, editing }: Scene): Map<string, Shown> {
  const left = new Set([...editor.hidden, ...editing]);
  const selected = new Set(editor.selected);
  const locked = new Set(editor.locked);
  const shown = new Map<string, Shown>();
  for (const object of objectsOf(editor.document)) {
    if (!isDrawn(object) || left.has(object.id)) continue;
    shown.set(object.id, { object, isSelected: selected.has(object.id), isLocked: locked.has(object.id) });
  }
  return shown;
}

/** A shape with its name, which may be wider than the shape itself. */
function reachOf(object: DrawnObject, { view, ontology }: Scene): Rect {
  const [x, y, width, height] = grownBy(boundsOf(object), OVERHANG_PX / view.scale);
  const name = ontology.labels.find(({ id }) => id === object.label)?.name ?? '';
  const letters = name.length + (object.text?.length ?? 0) + 6;
  return [x, y, Math.max(width, (letters * LETTER_PX) / view.scale), height];
}

/** Objects that both scenes show must lie in the same order: else what covers what has changed. */
function sameOrder(before: Map<string, Shown>, after: Map<string, Shown>): boolean {
  const kept = [...before.keys()].filter((id) => after.has(id));
  let place = 0;
  for (const id of after.keys()) if (before.has(id) && kept[place++] !== id) return false;
  return true;
}

/** The rectangle of the picture in which two scenes differ; null: nowhere, 'all': do not ask. */
export function dirtyRect(before: Scene | null, after: Scene): Rect | null | 'all' {
  if (
    before?.view !== after.view ||
    before.look !== after.look ||
    before.picture !== after.picture ||
    before.tiles !== after.tiles ||
    before.tilesVersion !== after.tilesVersion ||
    before.ontology !== after.ontology ||
    before.editor.document.width !== after.editor.document.width ||
    before.editor.document.height !== after.editor.document.height ||
    // Pieces that are painted alone would lie askew under a turned view.
    (after.view.rotation ?? 0) !== 0
  )
    return 'all';
  const [old, now] = [shownOf(before), shownOf(after)];
  if (!sameOrder(old, now) || old.size > MAX_TAGS !== now.size > MAX_TAGS) return 'all';
  const rects: Rect[] = [];
  for (const [id, was] of old) {
    const is = now.get(id);
    if (is?.object === was.object && is.isSelected === was.isSelected && is.isLocked === was.isLocked) continue;
    rects.push(reachOf(was.object, before));
    if (is) rects.push(reachOf(is.object, after));
  }
  for (const [id, is] of now) if (!old.has(id)) rects.push(reachOf(is.object, after));
  return rects.length > 0 ? unionOf(rects) : null;
}

export const touches = (object: DrawnObject, scene: Scene, rect: Rect): boolean =>
  rectsTouch(reachOf(object, scene), rect);
