"""Give a predictor written in Python the interface of a kernel."""

from operator import index

from misspenalty.prefetch.predictors._predictor cimport Predictor, file_t

from misspenalty.errors import ParameterError


cdef class PythonPredictor(Predictor):
    """A predictor that calls ``predictor.access(file)`` for each event, with the GIL held."""

    cdef object predictor
    cdef str name

    def __cinit__(self, Py_ssize_t files, str name, predictor):
        self.name, self.predictor = name, predictor

    cdef int access(self, file_t file) except -1 nogil:
        self.renew()
        with gil:
            self.ask(file)
        return 0

    cdef int ask(self, file_t file) except -1:
        try:
            for found in map(index, self.predictor.access(file)):      # `index` refuses fractions
                if not 0 <= found < self.files:
                    raise ValueError(f"predicted file {found}; expected an id of at least 0 and below {self.files}")
                self.emit(found)
        except Exception as error:
            raise ParameterError(f"predictor {self.name}: access({file}) raised {type(error).__name__}: {error}") from error
        return 0
