import { addWords } from '@/i18n';
import { git } from '@/i18n/git.en';
import { secrets } from '@/i18n/secrets.en';
import { sharing } from '@/i18n/sharing.en';
import { table } from '@/i18n/table.en';
import { compare } from './compare.en';
import { keeping } from './keeping.en';
import { places } from './places.en';
import { predictions } from './predictions.en';
import { preflight } from './preflight.en';
import { runlog } from './runlog.en';
import { runpage } from './runpage.en';
import { runs } from './runs.en';
import { startWhen } from './startWhen.en';
import { wizard } from './wizard.en';

addWords({
  compare,
  git,
  keeping,
  places,
  predictions,
  preflight,
  runlog,
  runpage,
  runs,
  secrets,
  sharing,
  startWhen,
  table,
  wizard,
});
