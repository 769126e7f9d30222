import { palette } from '@/app/shell/palette.zh';
import { nav, shell } from '@/app/shell/shell.zh';
import { appearance } from '@/features/account/words/appearance.zh';
import { agents } from '@/features/administration/words/agents.zh';
import { clusters } from '@/features/administration/words/clusters.zh';
import { health } from '@/features/administration/words/health.zh';
import { machines } from '@/features/administration/words/machines.zh';
import { clusterProfile } from '@/features/administration/words/profile.zh';
import { clusterQueues } from '@/features/administration/words/queues.zh';
import { clusterQuotas } from '@/features/administration/words/quotas.zh';
import { stores } from '@/features/administration/words/stores.zh';
import { auth } from '@/features/auth/words/auth.zh';
import { activity } from '@/features/datasets/words/activity.zh';
import { cleaning } from '@/features/datasets/words/cleaning.zh';
import { datasets } from '@/features/datasets/words/datasets.zh';
import { diff } from '@/features/datasets/words/diff.zh';
import { drawn } from '@/features/datasets/words/drawn.zh';
import { exchange } from '@/features/datasets/words/exchange.zh';
import { importing } from '@/features/datasets/words/importing.zh';
import { item } from '@/features/datasets/words/item.zh';
import { replicas } from '@/features/datasets/words/replicas.zh';
import { sources } from '@/features/datasets/words/sources.zh';
import { upload } from '@/features/datasets/words/upload.zh';
import { versioning } from '@/features/datasets/words/versioning.zh';
import { views } from '@/features/datasets/words/views.zh';
import { warmup } from '@/features/datasets/words/warmup.zh';
import { writers } from '@/features/datasets/words/writers.zh';
import { compare } from '@/features/jobs/words/compare.zh';
import { keeping } from '@/features/jobs/words/keeping.zh';
import { places } from '@/features/jobs/words/places.zh';
import { predictions } from '@/features/jobs/words/predictions.zh';
import { preflight } from '@/features/jobs/words/preflight.zh';
import { runlog } from '@/features/jobs/words/runlog.zh';
import { runpage } from '@/features/jobs/words/runpage.zh';
import { runs } from '@/features/jobs/words/runs.zh';
import { startWhen } from '@/features/jobs/words/startWhen.zh';
import { wizard } from '@/features/jobs/words/wizard.zh';
import { labeling } from '@/features/labeling/words/labeling.zh';
import { models } from '@/features/models/words/models.zh';
import { bell } from '@/features/notifications/words/bell.zh';
import { notifications } from '@/features/notifications/words/notifications.zh';
import { overview } from '@/features/overview/words/overview.zh';
import { webhooks } from '@/features/project/words/webhooks.zh';
import { faults } from '@/shared/domain/faults/faults.zh';
import { secondFactor } from '@/shared/domain/secondFactor/secondFactor.zh';
import { report } from '@/shared/ui/print/report.zh';
import { chart, common, errors, live, states } from './common.zh';
import { git } from './git.zh';
import { jobs } from './jobs.zh';
import { people } from './people.zh';
import { secrets } from './secrets.zh';
import { settings } from './settings.zh';
import { sharing } from './sharing.zh';
import { table } from './table.zh';

const zh = {
  activity,
  agents,
  appearance,
  auth,
  bell,
  chart,
  cleaning,
  common,
  clusterProfile,
  clusterQueues,
  clusterQuotas,
  clusters,
  compare,
  datasets,
  errors,
  diff,
  drawn,
  faults,
  git,
  health,
  exchange,
  importing,
  item,
  jobs,
  keeping,
  labeling,
  live,
  machines,
  models,
  nav,
  notifications,
  overview,
  palette,
  secondFactor,
  runs,
  places,
  predictions,
  preflight,
  report,
  runlog,
  runpage,
  secrets,
  people,
  settings,
  sharing,
  shell,
  replicas,
  sources,
  states,
  stores,
  table,
  upload,
  versioning,
  views,
  warmup,
  webhooks,
  startWhen,
  wizard,
  writers,
};
export default zh;
