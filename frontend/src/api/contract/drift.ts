/**
 * Compile-time only: the shapes that the pages read must be what `docs/openapi.yaml` promises. `npm run api` writes the
 * schema anew; `npm run typecheck` then fails at the line of what has drifted.
 */
import type { paths } from '../schema';
import type { ApiToken, AuditEvent, NewToken, Project, Session } from './accounts';
import type { Branch, CacheRecord, Dataset, DiffListing, EntryListing, Tag, Version, VersionStats } from './datasets';
import type {
  Artifact,
  Cluster,
  Explanation,
  LogRead,
  Metric,
  MetricSeries,
  Run,
  RunEvent,
  RunRequest,
  RunShort,
  Workflow,
} from './jobs';
import type {
  AuditDecision,
  LabelerStats,
  LabelTask,
  LeasedSlot,
  NewLabelTask,
  Submission,
  SubmitResult,
} from './labeling';
import type { AliasChange, Evaluation, Lineage, Model, ModelDownload, ModelVersion } from './models';
import type { Overview } from './overview';
import type { Listing } from './shapes';

type Json<Answer> = Answer extends { content: { 'application/json': infer Body } } ? Body : never;
/**
 * Answers always hold the fields that the schema calls optional because their columns have defaults; free JSON
 * (`unknown`) fits anything.
 */
type Filled<T> = unknown extends T
  ? never
  : T extends readonly (infer Item)[]
    ? Filled<Item>[]
    : T extends object
      ? { [Key in keyof T]-?: Filled<Exclude<T[Key], undefined>> }
      : T;
/** The server fills in what a request leaves out. */
type Loose<T> = T extends readonly (infer Item)[]
  ? Loose<Item>[]
  : T extends object
    ? { [Key in keyof T]?: Loose<T[Key]> }
    : T;
type Answers<Operation> = Operation extends { responses: infer Codes } ? Codes : never;
type Ok<Operation> = Json<Answers<Operation>[keyof Answers<Operation> & (200 | 201 | 202)]>;
type Got<Path extends keyof paths> = Filled<Ok<paths[Path]['get']>>;
type Posted<Path extends keyof paths> = Filled<Ok<paths[Path]['post']>>;
type Body<Path extends keyof paths> = paths[Path]['post'] extends { requestBody?: infer Request }
  ? Loose<Json<NonNullable<Request>>>
  : never;

/** Fails to compile unless `Actual` can be used where `Expected` is wanted. */
type Fits<Expected, _Actual extends Expected> = true;

export type JobsFit = [
  Fits<Listing<RunShort>, Got<'/api/v1/projects/{project}/runs/'>>,
  // The schema calls `model_versions` free JSON.
  Fits<Omit<Run, 'model_versions'>, Got<'/api/v1/runs/{run_id}/'>>,
  Fits<Explanation, Got<'/api/v1/runs/{run_id}/explain/'>>,
  Fits<Listing<RunEvent>, Got<'/api/v1/runs/{run_id}/events/'>>,
  Fits<Metric[], Got<'/api/v1/runs/{run_id}/metrics/'>>,
  Fits<{ series: MetricSeries[] }, Got<'/api/v1/runs/{run_id}/metrics/series/'>>,
  Fits<Listing<Artifact>, Got<'/api/v1/runs/{run_id}/files/'>>,
  Fits<LogRead, Got<'/api/v1/runs/{run_id}/logs/'>>,
  Fits<Listing<Workflow>, Got<'/api/v1/workflows/'>>,
  Fits<Listing<Cluster>, Got<'/api/v1/clusters/'>>,
  Fits<Body<'/api/v1/projects/{project}/runs/'>, RunRequest>,
];

export type LabelingFits = [
  Fits<Listing<LabelTask>, Got<'/api/v1/projects/{project}/labelx/tasks/'>>,
  Fits<LabelTask, Got<'/api/v1/labelx/tasks/{task_id}/'>>,
  Fits<Listing<LeasedSlot>, Got<'/api/v1/labelx/tasks/{task_id}/my-work/'>>,
  Fits<{ lease: LeasedSlot[] }, Posted<'/api/v1/labelx/tasks/{task_id}/lease/'>>,
  Fits<{ results: SubmitResult[] }, Posted<'/api/v1/labelx/tasks/{task_id}/submit-batch/'>>,
  Fits<Listing<LabelerStats>, Got<'/api/v1/labelx/tasks/{task_id}/stats/'>>,
  Fits<Body<'/api/v1/projects/{project}/labelx/tasks/'>, NewLabelTask>,
  Fits<Body<'/api/v1/labelx/tasks/{task_id}/submit-batch/'>, { submissions: Submission[] }>,
  Fits<Body<'/api/v1/labelx/audits/'>, { decisions: AuditDecision[] }>,
];

export type ModelsFit = [
  Fits<Listing<Model>, Got<'/api/v1/projects/{project}/models/'>>,
  Fits<ModelVersion, Got<'/api/v1/projects/{project}/models/{model}/versions/{number}/'>>,
  Fits<Listing<Evaluation>, Got<'/api/v1/projects/{project}/models/{model}/versions/{number}/evaluations/'>>,
  Fits<Listing<AliasChange>, Got<'/api/v1/projects/{project}/models/{model}/aliases/history/'>>,
  Fits<Lineage, Got<'/api/v1/projects/{project}/models/{model}/versions/{number}/lineage/'>>,
  Fits<ModelDownload, Got<'/api/v1/projects/{project}/models/{model}/versions/{number}/download/'>>,
];

export type AccountsFit = [
  Fits<Session, Got<'/api/v1/auth/session/'>>,
  // The schema calls `role` any text.
  Fits<Listing<Omit<Project, 'role'>>, Got<'/api/v1/projects/'>>,
  Fits<Listing<ApiToken>, Got<'/api/v1/tokens/'>>,
  Fits<Listing<AuditEvent>, Got<'/api/v1/audit/'>>,
  Fits<Body<'/api/v1/tokens/'>, NewToken>,
];

export type DatasetsFit = [
  Fits<Listing<Dataset>, Got<'/api/v1/projects/{project}/datasets/'>>,
  Fits<Listing<Omit<Version, 'quarantined_packs'>>, Got<'/api/v1/projects/{project}/datasets/{dataset}/versions/'>>,
  Fits<Listing<Branch>, Got<'/api/v1/projects/{project}/datasets/{dataset}/branches/'>>,
  Fits<Listing<Tag>, Got<'/api/v1/projects/{project}/datasets/{dataset}/tags/'>>,
  Fits<EntryListing, Got<'/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/'>>,
  Fits<VersionStats, Got<'/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/stats/'>>,
  Fits<DiffListing, Got<'/api/v1/projects/{project}/datasets/{dataset}/diff/'>>,
  Fits<CacheRecord[], Got<'/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/cache/'>>,
];

export type OverviewFits = [Fits<Overview, Got<'/api/v1/projects/{project}/overview/'>>];
