import { addWords } from '@/i18n';
import { compare } from '@/i18n/compare.en';
import { runpage } from '@/i18n/runpage.en';
import { runs } from '@/i18n/runs.en';

addWords({ compare, runpage, runs });
