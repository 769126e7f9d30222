/** Words of printed reports; they come with the pages that can be printed. */
export const report = {
  print: 'Print report',
  origin: 'Project {{project}} · printed {{at}} by {{who}}',
  notWhole: 'Some parts did not load in time and are missing from the report.',
  result: 'Result',
  registered: 'Registered models',
};
