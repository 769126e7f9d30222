import { sentenceOf } from '@/api/errors';
import type { ChoiceReason } from '@/api/schema';
import { sayDetail } from '@/i18n';

/** A sentence of the server about a place, in the reader's language. */
export const sayReason = ({ code, sentence, params }: ChoiceReason): string =>
  sayDetail(sentence, sentenceOf({ detail_code: code, detail_params: params }));
