/**
 * Hand-written shapes of the REST API. `api/schema.d.ts`, generated from `docs/openapi.yaml`, replaces them:
 * then only `client.ts` and the features' `queries.ts` change.
 */
import type { AccountPaths } from './accounts';
import type { DatasetPaths } from './datasets';
import type { JobPaths } from './jobs';
import type { LabelingPaths } from './labeling';
import type { ModelPaths } from './models';
import type { OverviewPaths } from './overview';

export type paths = AccountPaths & OverviewPaths & DatasetPaths & JobPaths & ModelPaths & LabelingPaths;
