import type { QueryOf } from './query';

export type {
  Artifact,
  Attempt,
  Cluster,
  Parameter,
  PartialResources as Resources,
  Run,
  RunCurve as MetricSeries,
  RunLog as LogRead,
  RunMetric as Metric,
  RunPreview as Preview,
  RunRequestRequest as RunRequest,
  RunShort,
  Workflow,
} from '../schema';

export type RunQuery = QueryOf<'/api/v1/projects/{project}/runs/'>;
