import { activity } from './activity.zh';
import { appearance } from './appearance.zh';
import { auth } from './auth.zh';
import { cleaning } from './cleaning.zh';
import { chart, common, errors, live, states } from './common.zh';
import { compare } from './compare.zh';
import { datasets } from './datasets.zh';
import { diff } from './diff.zh';
import { faults } from './faults.zh';
import { git } from './git.zh';
import { health } from './health.zh';
import { importing } from './importing.zh';
import { item } from './item.zh';
import { jobs } from './jobs.zh';
import { keeping } from './keeping.zh';
import { labeling } from './labeling.zh';
import { machines } from './machines.zh';
import { models } from './models.zh';
import { notifications } from './notifications.zh';
import { overview } from './overview.zh';
import { palette } from './palette.zh';
import { people } from './people.zh';
import { predictions } from './predictions.zh';
import { preflight } from './preflight.zh';
import { report } from './report.zh';
import { runpage } from './runpage.zh';
import { runs } from './runs.zh';
import { secondFactor } from './secondFactor.zh';
import { secrets } from './secrets.zh';
import { settings } from './settings.zh';
import { sharing } from './sharing.zh';
import { nav, shell } from './shell.zh';
import { sources } from './sources.zh';
import { table } from './table.zh';
import { upload } from './upload.zh';
import { versioning } from './versioning.zh';
import { views } from './views.zh';
import { webhooks } from './webhooks.zh';
import { writers } from './writers.zh';

const zh = {
  activity,
  appearance,
  auth,
  chart,
  cleaning,
  common,
  compare,
  datasets,
  errors,
  diff,
  faults,
  git,
  health,
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
  predictions,
  preflight,
  report,
  runpage,
  secrets,
  people,
  settings,
  sharing,
  shell,
  sources,
  states,
  table,
  upload,
  versioning,
  views,
  webhooks,
  writers,
};
export default zh;
