import { addWords } from '@/i18n';
import { sharing } from '@/i18n/sharing.en';

addWords({ sharing });
