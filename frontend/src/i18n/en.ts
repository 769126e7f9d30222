import { palette } from '@/app/shell/palette.en';
import { appearance } from '@/features/account/words/appearance.en';
import { agents } from '@/features/administration/words/agents.en';
import { clusters } from '@/features/administration/words/clusters.en';
import { health } from '@/features/administration/words/health.en';
import { machines } from '@/features/administration/words/machines.en';
import { clusterProfile } from '@/features/administration/words/profile.en';
import { clusterQueues } from '@/features/administration/words/queues.en';
import { clusterQuotas } from '@/features/administration/words/quotas.en';
import { stores } from '@/features/administration/words/stores.en';
import { auth } from '@/features/auth/words/auth.en';
import { activity } from '@/features/datasets/words/activity.en';
import { cleaning } from '@/features/datasets/words/cleaning.en';
import { datasets } from '@/features/datasets/words/datasets.en';
import { diff } from '@/features/datasets/words/diff.en';
import { drawn } from '@/features/datasets/words/drawn.en';
import { exchange } from '@/features/datasets/words/exchange.en';
import { importing } from '@/features/datasets/words/importing.en';
import { item } from '@/features/datasets/words/item.en';
import { replicas } from '@/features/datasets/words/replicas.en';
import { sources } from '@/features/datasets/words/sources.en';
import { upload } from '@/features/datasets/words/upload.en';
import { versioning } from '@/features/datasets/words/versioning.en';
import { views } from '@/features/datasets/words/views.en';
import { warmup } from '@/features/datasets/words/warmup.en';
import { writers } from '@/features/datasets/words/writers.en';
import { compare } from '@/features/jobs/words/compare.en';
import { keeping } from '@/features/jobs/words/keeping.en';
import { places } from '@/features/jobs/words/places.en';
import { predictions } from '@/features/jobs/words/predictions.en';
import { preflight } from '@/features/jobs/words/preflight.en';
import { runlog } from '@/features/jobs/words/runlog.en';
import { runpage } from '@/features/jobs/words/runpage.en';
import { runs } from '@/features/jobs/words/runs.en';
import { startWhen } from '@/features/jobs/words/startWhen.en';
import { wizard } from '@/features/jobs/words/wizard.en';
import { labeling } from '@/features/labeling/words/labeling.en';
import { models } from '@/features/models/words/models.en';
import { notifications } from '@/features/notifications/words/notifications.en';
import { overview } from '@/features/overview/words/overview.en';
import { webhooks } from '@/features/project/words/webhooks.en';
import { secondFactor } from '@/shared/domain/secondFactor/secondFactor.en';
import { report } from '@/shared/ui/print/report.en';
import first from './en.first';
import { git } from './git.en';
import { jobs } from './jobs.en';
import { people } from './people.en';
import { secrets } from './secrets.en';
import { settings } from './settings.en';
import { sharing } from './sharing.en';
import { table } from './table.en';

/** All words. Those that are not in `en.first` come with the pages that say them: see `addWords`. */
const en = {
  appearance,
  ...first,
  activity,
  agents,
  auth,
  cleaning,
  clusterProfile,
  clusterQueues,
  clusterQuotas,
  clusters,
  compare,
  datasets,
  diff,
  drawn,
  git,
  health,
  exchange,
  importing,
  item,
  jobs,
  keeping,
  labeling,
  machines,
  models,
  notifications,
  overview,
  palette,
  people,
  places,
  predictions,
  preflight,
  report,
  runlog,
  runpage,
  runs,
  secondFactor,
  secrets,
  settings,
  sharing,
  replicas,
  stores,
  sources,
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
export default en;
