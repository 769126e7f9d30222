import { activity } from './activity.en';
import { appearance } from './appearance.en';
import { auth } from './auth.en';
import { cleaning } from './cleaning.en';
import { compare } from './compare.en';
import { datasets } from './datasets.en';
import { diff } from './diff.en';
import first from './en.first';
import { git } from './git.en';
import { health } from './health.en';
import { importing } from './importing.en';
import { item } from './item.en';
import { keeping } from './keeping.en';
import { labeling } from './labeling.en';
import { machines } from './machines.en';
import { models } from './models.en';
import { overview } from './overview.en';
import { palette } from './palette.en';
import { predictions } from './predictions.en';
import { preflight } from './preflight.en';
import { report } from './report.en';
import { runpage } from './runpage.en';
import { runs } from './runs.en';
import { secondFactor } from './secondFactor.en';
import { secrets } from './secrets.en';
import { settings } from './settings.en';
import { sharing } from './sharing.en';
import { sources } from './sources.en';
import { table } from './table.en';
import { upload } from './upload.en';
import { versioning } from './versioning.en';
import { views } from './views.en';
import { webhooks } from './webhooks.en';
import { writers } from './writers.en';

/** All words. Those that are not in `en.first` come with the pages that say them: see `addWords`. */
const en = {
  appearance,
  ...first,
  activity,
  auth,
  cleaning,
  compare,
  datasets,
  diff,
  git,
  health,
  importing,
  item,
  keeping,
  labeling,
  machines,
  models,
  overview,
  palette,
  predictions,
  preflight,
  report,
  runpage,
  runs,
  secondFactor,
  secrets,
  settings,
  sharing,
  sources,
  table,
  upload,
  versioning,
  views,
  webhooks,
  writers,
};
export default en;
