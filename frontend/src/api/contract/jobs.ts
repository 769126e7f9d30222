import type { QueryOf } from './query';

export type {
  Artifact,
  Attempt,
  Cluster,
  CodeFetch,
  ComparedCurve,
  ComparedRun,
  Comparison,
  Explanation,
  Finding,
  GitHost,
  LogMatch,
  Parameter,
  PartialResources as Resources,
  Placement,
  Run,
  RunCurve as MetricSeries,
  RunEvent,
  RunInput,
  RunLog as LogRead,
  RunMetric as Metric,
  RunPreview as Preview,
  RunRequestRequest as RunRequest,
  RunShort,
  Secret,
  Selector,
  Workflow,
} from '../schema';

export type RunQuery = QueryOf<'/api/v1/projects/{project}/runs/'>;
