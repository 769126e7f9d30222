import { addWords } from '@/i18n';
import { compare } from '@/i18n/compare.en';
import { git } from '@/i18n/git.en';
import { keeping } from '@/i18n/keeping.en';
import { predictions } from '@/i18n/predictions.en';
import { preflight } from '@/i18n/preflight.en';
import { runpage } from '@/i18n/runpage.en';
import { runs } from '@/i18n/runs.en';
import { secrets } from '@/i18n/secrets.en';
import { sharing } from '@/i18n/sharing.en';
import { table } from '@/i18n/table.en';

addWords({ compare, git, keeping, predictions, preflight, runpage, runs, secrets, sharing, table });
