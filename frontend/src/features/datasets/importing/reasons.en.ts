/** Reasons of the importers that name options of the command line: here these are fields of the form. */
export const reasons: Readonly<Record<string, string>> = {
  'it was asked for': 'the format was chosen',
  'a table of files was found and not read; --format csv reads it':
    'a table of files was found and not read; choose the format “Tables” to read it',
  'an annotation of VOC was found and not read: --format voc reads it':
    'an annotation of VOC was found and not read; choose the format “Pascal VOC” to read it',
  'a table was found and not understood: {}': 'a table was found and not understood: {1:w}',
  'no file of the source has a name of its column {}; if its files lie elsewhere, give --images':
    'no file of the source has a name of its column {1}; if its files lie elsewhere, name them under “Pictures apart”',
  'it has NUL characters; if it is UTF-16, give --encoding utf-16-le':
    'it has NUL characters; if it is UTF-16, give the encoding of tables utf-16-le',
  '{} in the zip {} not marked as UTF-8 and read as {}: {}. If that is wrong, use {}':
    '{1} in the zip {2} not marked as UTF-8 and read as {3}: {4}. If that is wrong, give an encoding of names: {5}',
  '{}: {} {} outside of {}. If boxes are read wrong, import {}':
    '{1}: {2} {3} outside of {4}. If boxes are read wrong, change “Four numbers of a box”',
  'it has more than {} MiB (--max-download-mib)': 'it has more than {1} MiB',
};
