import { oneOf, type RawSearch, text } from '@/shared/domain/search';

export const uploadSearch = (raw: RawSearch) => ({
  dataset: text(raw.dataset),
  branch: text(raw.branch),
  folder: text(raw.folder),
  mode: oneOf('add', 'replace')(raw.mode),
});

export type UploadSearch = Partial<ReturnType<typeof uploadSearch>>;
