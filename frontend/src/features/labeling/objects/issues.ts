import type { Issue } from '@/api/contract/labeling';
import type { Mark } from '../canvas/controller';
import { boundsOf } from '../canvas/geometry/shapes';
import { type DocumentV2, isDrawn, objectsOf } from '../canvas/model';

/** A remark about an object, a place or the whole picture. */
export type Remark = Pick<Issue, 'object' | 'text'> & { at?: readonly number[] | null; state?: string };

/** The place of a remark on the picture, with its number in the list; null where it is about the whole. */
export function markOf(remark: Remark, document: DocumentV2, number: number): Mark | null {
  const open = { isOpen: remark.state !== 'resolved', name: String(number) };
  const [x, y] = remark.at ?? [];
  if (x !== undefined && y !== undefined) return { at: [x, y], ...open };
  const object = objectsOf(document).find(({ id }) => id === remark.object);
  if (!object || !isDrawn(object)) return null;
  const [left, top] = boundsOf(object);
  return { at: [left, top], ...open };
}

export const marksOf = (remarks: readonly Remark[], document: DocumentV2): Mark[] =>
  remarks.flatMap((remark, index) => markOf(remark, document, index + 1) ?? []);
