import { addWords } from '@/i18n';
import { people } from '@/i18n/people.en';

addWords({ people });
