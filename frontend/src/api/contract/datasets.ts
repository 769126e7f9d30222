import type { QueryOf } from './query';

export type {
  CacheRecord,
  Dataset,
  DiffPage as DiffListing,
  DiffRow,
  DiffRowKindEnum as DiffKind,
  Entry,
  EntryPage as EntryListing,
  QuarantinedPack,
  SplitCount,
  Tag,
  Version,
} from '../schema';

export type EntryQuery = QueryOf<'/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/'>;
export type SplitQuery = QueryOf<'/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/split-preview/'>;
