import type { LeasedSlot } from '@/api/contract/labeling';
import { canonicalDocument, canonicalObject, type DocumentV2, emptyDocument, objectsOf } from '../canvas/model';

export function asDocument(value: unknown): DocumentV2 | null {
  const document = value as Partial<DocumentV2> | null | undefined;
  return document?.version === 2 ? (document as DocumentV2) : null;
}

/**
 * The document that a slot starts with: its draft, the work before it, or an empty one.
 *
 * It has the sides of the picture. A draft that began with a pre-label of other sides was never taken otherwise.
 */
export function documentOfSlot(slot: LeasedSlot): DocumentV2 {
  const { width, height } = slot;
  const begun = asDocument(slot.draft) ?? asDocument(slot.document);
  if (!begun) return emptyDocument(width ?? 0, height ?? 0);
  const fits = !width || !height || (begun.width === width && begun.height === height);
  return fits ? begun : { ...begun, width, height };
}

/** The document as it is stored: fields with their default are left out. */
export const canonical = (document: DocumentV2): DocumentV2 =>
  canonicalDocument({ ...document, objects: objectsOf(document).map(canonicalObject) });
