import { accounts } from './accounts.zh';
import { annotations } from './annotations.zh';
import { cache } from './cache.zh';
import { cleaning } from './cleaning.zh';
import { clusters } from './clusters.zh';
import { core } from './core.zh';
import { datasets } from './datasets.zh';
import { formats } from './formats.zh';
import { gateway } from './gateway.zh';
import { jobs } from './jobs.zh';
import { labeling } from './labeling.zh';
import { models } from './models.zh';
import { notifications } from './notifications.zh';
import { query } from './query.zh';

/**
 * The server's sentences in Chinese, by code: details of problems, and errors of fields.
 *
 * `{name}` is a parameter as it is; `{name:w}` a word or a sentence that is said in Chinese itself.
 */
const sentences: Readonly<Record<string, string>> = {
  ...accounts,
  ...annotations,
  ...cache,
  ...cleaning,
  ...clusters,
  ...core,
  ...datasets,
  ...formats,
  ...gateway,
  ...jobs,
  ...labeling,
  ...models,
  ...notifications,
  ...query,
};

export { words } from './words.zh';
export default sentences;
