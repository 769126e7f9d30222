import type { QueryOf } from './query';

export type {
  CacheRecord,
  Dataset,
  DiffPage as DiffListing,
  DiffRow,
  DiffRowKindEnum as DiffKind,
  Entry,
  EntryPage as EntryListing,
  GarbageRun,
  Hold,
  NewHoldRequest as NewHold,
  QuarantinedPack,
  Retention,
  RetentionKindEnum as RetentionKind,
  RetentionRequest as NewRetention,
  Tag,
  Version,
} from '../schema';

export type EntryQuery = QueryOf<'/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/'>;
