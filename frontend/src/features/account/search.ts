import { type RawSearch, text } from '@/shared/domain/search';

export const tokensSearch = (raw: RawSearch) => ({ create: text(raw.create) });
export const s3KeysSearch = (raw: RawSearch) => ({ create: text(raw.create) });
