import { type DocumentV2, objectsOf } from '../canvas/model';
import { canonical } from '../objects/documents';

export interface Differences {
  added: number;
  changed: number;
  removed: number;
}

/** Objects by their id: those that the auditor added, changed in any way, or removed. */
export function differencesOf(before: DocumentV2, after: DocumentV2): Differences {
  const texts = (document: DocumentV2) =>
    new Map(objectsOf(canonical(document)).map((object) => [object.id, JSON.stringify(object)]));
  const [old, now] = [texts(before), texts(after)];
  const kept = [...now.keys()].filter((id) => old.has(id));
  return {
    added: now.size - kept.length,
    changed: kept.filter((id) => old.get(id) !== now.get(id)).length,
    removed: old.size - kept.length,
  };
}
