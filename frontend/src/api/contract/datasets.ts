import type { QueryOf } from './query';

export type {
  Branch,
  CacheRecord,
  CommitRequest,
  Dataset,
  DiffPage as DiffListing,
  DiffRow,
  DiffRowKindEnum as DiffKind,
  EditStepRequest,
  Entry,
  EntryPage as EntryListing,
  MergeConflict,
  OnConflictEnum as Side,
  OperationPreview,
  QuarantinedPack,
  Tag,
  Version,
} from '../schema';

export type EntryQuery = QueryOf<'/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/'>;
