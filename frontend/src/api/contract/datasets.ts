import type { QueryOf } from './query';

export type {
  Branch,
  CacheRecord,
  CommitRequest,
  Dataset,
  DiffPage as DiffListing,
  DiffRow,
  DiffRowKindEnum as DiffKind,
  Entry,
  EntryPage as EntryListing,
  EditStepRequest,
  MergeConflict,
  OnConflictEnum as Side,
  OperationPreview,
  NewSourceRequest as NewSource,
  Probe,
  QuarantinedPack,
  Scan as SourceScan,
  Source,
  SourceProbeRequest as SourceProbe,
  SplitCount,
  Tag,
  Version,
} from '../schema';

export type EntryQuery = QueryOf<'/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/'>;
export type SplitQuery = QueryOf<'/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/split-preview/'>;
