import type { QueryOf } from './query';

export type {
  Branch,
  CacheRecord,
  CommitRequest,
  Dataset,
  DeletedDataset,
  DiffPage as DiffListing,
  DiffRow,
  DiffRowKindEnum as DiffKind,
  EditStepRequest,
  Entry,
  EntryPage as EntryListing,
  GarbageRun,
  Hold,
  MergeConflict,
  NewHoldRequest as NewHold,
  NewSourceRequest as NewSource,
  OnConflictEnum as Side,
  OperationPreview,
  Probe,
  QuarantinedPack,
  Retention,
  RetentionKindEnum as RetentionKind,
  RetentionRequest as NewRetention,
  Scan as SourceScan,
  Source,
  SourceProbeRequest as SourceProbe,
  SplitCount,
  Tag,
  Version,
} from '../schema';

export type EntryQuery = QueryOf<'/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/'>;
export type SplitQuery = QueryOf<'/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/split-preview/'>;
