import { addWords } from '@/i18n';
import { sharing } from '@/i18n/sharing.en';
import { runlog } from '../words/runlog.en';

addWords({ runlog, sharing });
