# Fills the option lists into lift2k(1). Arguments: PAGES, the program lift2k_pages; TEMPLATE; OUTPUT; PROJECT_VERSION.
foreach(name encode decode transcode info compare view dump)
  execute_process(COMMAND ${PAGES} man ${name} OUTPUT_VARIABLE OPTIONS_${name} RESULT_VARIABLE result
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "lift2k_pages man ${name} failed: ${result}")
  endif()
endforeach()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
