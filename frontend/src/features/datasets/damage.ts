import type { TFunction } from 'i18next';

const SHARE = /^the file ends after (\d+) %/;
const KNOWN = {
  'the file ends before the picture does': 'endsEarly',
  'the file is empty': 'empty',
  'not an image of a known format': 'unknownFormat',
} as const;

/** Whether a picture is only too large to be opened here: it is not damaged. */
export const isTooLarge = (reason: string): boolean => reason.startsWith('more than the ');

/** Why a picture cannot be read whole, as the server found when it was pushed, in the present language. */
export function damageWords(t: TFunction, reason: string): string {
  const percent = SHARE.exec(reason)?.[1];
  if (percent !== undefined) return t('item.damage.endsAfter', { percent });
  if (reason in KNOWN) return t(`item.damage.${KNOWN[reason as keyof typeof KNOWN]}`);
  return isTooLarge(reason) ? t('item.damage.tooLarge') : t('item.damage.other', { reason });
}

/** The mark that the server left on a file when it was pushed. */
export function markOf(attributes: Record<string, unknown>): string | undefined {
  const mark = attributes.unreadable;
  return typeof mark === 'string' ? mark : undefined;
}
