import { type RawSearch, text } from '@/shared/domain/search';

export const secretsSearch = (raw: RawSearch) => ({ create: text(raw.create), replace: text(raw.replace) });
export const webhooksSearch = (raw: RawSearch) => ({ create: text(raw.create), of: text(raw.of) });
